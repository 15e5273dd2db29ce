/// \file
/// Quenched SU(N) configurations with the Wilson plaquette action.
#pragma once

#include "runs/markov_chain.hpp"
#include "solvers/gauge/heatbath.hpp"

namespace quarksmith::runs {

struct HeatbathDescription : MarkovDescription {
  std::string lattice;
  HeatbathState state;  ///< beta, start, overrelax and seed
  std::uint64_t sweeps = 0;
  void list(Members& members) override;
};

struct HeatbathResult {
  Coordinates lattice;  ///< extents of the whole one
  int colours = 3;
  HeatbathState state;                  ///< at the end, with all sweeps since the start
  std::vector<double> plaquettes = {};  ///< after each sweep of this run
  double plaquette = 0;                 ///< at the end
  double seconds_per_sweep = 0;         ///< of this run
  std::optional<HostGauge> gauge = {};  ///< at the end, of runs in memory
};
/// \throws UsageError a member is missing or wrong, or `out` is of another run; Error a file cannot be read or written;
/// Interrupted.
HeatbathResult run(HeatbathDescription& description, Session& session);

}  // namespace quarksmith::runs
