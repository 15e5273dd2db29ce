/// \file
/// What a run of molecular dynamics is: RUN.toml.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/lattice/partition.hpp"
#include "solvers/hmc/hmc.hpp"

namespace quarksmith::apps {

/// A run as its file states it.
struct HmcDescription {
  Coordinates extents{};
  int colours = 3;
  std::string gauge;  ///< a path, or unit, hot, weak:EPS
  double length = 1;
  long long count = 1;
  std::uint64_t seed = 1;
  bool metropolis = true;
  ForceNorms norms = ForceNorms::all;
  double anisotropy = 1;  ///< of momenta
  std::vector<IntegratorLevel> levels;
  int reach = 1;                     ///< sites of the longest hop of its operators
  std::vector<std::string> remarks;  ///< what its monomials came to, a line each
  /// All keys with their values or defaults, `WHAT: KEY`, but for the number of trajectories and where they begin: what
  /// must be the same when a run goes on.
  std::map<std::string, std::string> keys;
};

/// A run and its terms.
struct HmcPlan {
  HmcDescription description;
  std::vector<std::unique_ptr<Monomial>> monomials;
};

/// \throws UsageError what the file says is no run: the message names file, line and remedy. Error it cannot be read.
/// \param look of its solves (FermionSolver).
HmcPlan read_hmc(const std::filesystem::path& path, const Partition& partition, std::function<void()> look = {});

/// One of its trajectories on few sites, for what that asks of a build (runtime/rehearsal.hpp).
void rehearse_hmc(const std::filesystem::path& path, const Partition& partition, const Domain& domain);

}  // namespace quarksmith::apps
