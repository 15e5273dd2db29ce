/// \file
/// Configurations with dynamical quarks, by hybrid Monte Carlo.
#pragma once

#include "runs/markov_chain.hpp"
#include "solvers/hmc/hmc.hpp"

namespace quarksmith::runs {

struct HmcDescription : MarkovDescription {
  std::filesystem::path run, replay;
  std::uint64_t reversibility = 0;
  bool energies = false;
  void list(Members& members) override;
  void check() override;
};

struct HmcTrajectory : TrajectoryReport {
  std::optional<Reversibility> reversibility = {};  ///< where it was asked for
  double io = 0;                                    ///< seconds that files took after it
};

struct HmcResult {
  Coordinates lattice;                           ///< extents of the whole one
  std::string origin, device;                    ///< of the links at the start; in words
  std::map<std::string, std::string> keys = {};  ///< what RUN.toml says, `WHAT: KEY`
  std::uint64_t first = 0;                       ///< trajectories of earlier runs
  std::vector<std::string> monomials = {};       ///< their names, in the order of the lists of trajectories
  /// Those of this run; of `energies` one, which has what is known at its start.
  std::vector<HmcTrajectory> trajectories = {};
  std::optional<HostGauge> gauge = {};  ///< at the end, of runs in memory
};
/// \throws UsageError a member or RUN.toml is wrong, or `out` is of another run; Error a solve did not converge, or a
/// file cannot be read or written; Interrupted.
HmcResult run(HmcDescription& description, Session& session);

}  // namespace quarksmith::runs
