/// \file
/// The command as several processes: how they agree at the start, and how they fail.
#pragma once

#include <string>

#include "runtime/communicator.hpp"

namespace quarksmith::runs {

/// Sets the number of threads to this rank's share of processors, unless OMP_NUM_THREADS is set. \param tell whether to
/// report if there are fewer threads than without other ranks.
void divide_processors(Communicator& ranks, bool tell);
/// The ranks of `Communicator::world`; the first call joins them, divides processors, and compares builds.
/// \param tell whether to report if a rank has fewer threads than it would have alone.
/// \throws UsageError ranks have different builds.
Communicator& joined_ranks(bool tell);
/// \throws UsageError a rank has another text than rank 0; `what` names it, `remedy` says what to do.
void require_same(Communicator& ranks, const std::string& text, const std::string& what, const std::string& remedy);
/// Which ranks have failed.
struct Meeting {
  bool all = true;    ///< whether all have failed
  bool alike = true;  ///< whether all have failed with the same message
};
/// Waits a few seconds for other ranks to fail as well. If not all do, the job has to be aborted, as the others may
/// wait for this rank for ever.
Meeting meet_in_error(const std::string& message);
}  // namespace quarksmith::runs
