/// \file
/// The command as several processes: what they agree on at the start, and how they fail.
#pragma once

#include <string>

#include "runtime/communicator.hpp"

namespace quarksmith::runs {

/// As many threads as there are processors for this rank, unless the environment says how many; says so if that is to
/// be told and they are fewer than there would be.
void divide_processors(Communicator& ranks, bool tell);
/// The ranks of `Communicator::world`, which the first call joins: processors are divided, and all are of one build.
/// \param tell says so if a rank has fewer threads than it would have alone.
/// \throws UsageError they are not of the same build.
Communicator& joined_ranks(bool tell);
/// \throws UsageError a rank has another text than rank 0; `what` names it, `remedy` says what to do.
void require_same(Communicator& ranks, const std::string& text, const std::string& what, const std::string& remedy);
/// Where ranks are when one of them fails.
struct Meeting {
  bool all = true;    ///< have failed
  bool alike = true;  ///< with the same message
};
/// Waits for other ranks to fail as well, for a few seconds. If not all do, the job is to be aborted, for they may wait
/// for this rank for ever.
Meeting meet_in_error(const std::string& message);
}  // namespace quarksmith::runs
