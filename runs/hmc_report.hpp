/// \file
/// Reports of trajectories of hybrid Monte Carlo.
#pragma once

#include <cstdint>

#include "solvers/hmc/hmc.hpp"

#include "runs/print.hpp"

namespace quarksmith::runs {

/// A trajectory as an entry of --json (docs/files.md), without its shares of time.
Json json_of(const TrajectoryReport& report, const Hmc& hmc);

/// Shares of the time of a trajectory, and of the files written after it. The rest is for momenta and links.
Json shares_of(const TrajectoryReport& report, const Hmc& hmc, double io);

/// Prints a line about a trajectory.
void print_trajectory(std::uint64_t number, const TrajectoryReport& report, const Hmc& hmc, Session& session);

}  // namespace quarksmith::runs
