/// \file
/// RUN.toml, the parameter file of hybrid Monte Carlo.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runs/session.hpp"
#include "solvers/hmc/hmc.hpp"

namespace quarksmith::runs {

/// A run as its file states it.
struct HmcSettings {
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
  std::vector<std::string> remarks;  ///< messages about what was chosen for its monomials, a line each
  /// Values, or defaults, by `WHAT: KEY` of all keys that must stay the same when a run continues: all but the number
  /// of trajectories and the start.
  std::map<std::string, std::string> keys;
};

/// A run and its terms.
struct HmcPlan {
  HmcSettings description;
  std::vector<std::unique_ptr<Monomial>> monomials;
};

/// Reads a parameter file. \param look called during solves (FermionSolver); may end them by an exception.
/// \throws UsageError a key is missing or wrong; the message names file, line and remedy. Error the file is unreadable.
HmcPlan read_hmc(const std::filesystem::path& path, const Session& session, std::function<void()> look = {});

/// Runs a trajectory of the file on few sites, to find out which kernels it needs (runtime/rehearsal.hpp).
void rehearse_hmc(const std::filesystem::path& path, const Session& session, const Domain& domain);

}  // namespace quarksmith::runs
