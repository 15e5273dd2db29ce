/// \file
/// The table of `solve-bench --levels`.
#pragma once

#include <functional>

#include "runs/print.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace quarksmith::runs {

/// Times each part of a cycle on each level, prints the table and returns its rows. Collective.
/// \param seconds_of the time of one call, the same on all ranks.
Json time_cycle(Multigrid& multigrid, int rhs,
                const std::function<double(const std::function<void()>& call)>& seconds_of, Session& session);

}  // namespace quarksmith::runs
