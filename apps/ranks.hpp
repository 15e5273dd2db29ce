/// \file
/// The command as several processes: what they agree on at the start, and how they fail.
#pragma once

#include <string>

#include "runtime/communicator.hpp"

namespace quarksmith::apps {

/// Joins the ranks that were started with this one; results are printed by rank 0 alone from here on. Threads and ranks
/// get on with each other and with other processes: what the environment leaves open about them is set here, for which
/// the process may start itself anew, so this is the first thing that main does.
/// \throws UsageError they are not the same command of the same build.
void join_ranks(int argc, const char* const* argv);
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
/// Prints the error on which a rank ends: once if all have met the same, else which rank it was. If others have not
/// failed, the job is aborted, for they may wait for this rank for ever.
/// \return the exit status.
int fail(const std::string& message, int status);

}  // namespace quarksmith::apps
