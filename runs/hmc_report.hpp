/// \file
/// What hybrid Monte Carlo tells of its trajectories.
#pragma once

#include <cstdint>

#include "solvers/hmc/hmc.hpp"

#include "runs/print.hpp"

namespace quarksmith::runs {

/// An entry of --json (docs/files.md), but for its shares.
Json json_of(const TrajectoryReport& report, const Hmc& hmc);

/// Of the time of a trajectory and of the files that were written after it. The rest is that of momenta and links.
Json shares_of(const TrajectoryReport& report, const Hmc& hmc, double io);

/// One line a trajectory.
void print_trajectory(std::uint64_t number, const TrajectoryReport& report, const Hmc& hmc, Session& session);

}  // namespace quarksmith::runs
