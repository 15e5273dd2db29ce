/// \file
/// How the command begins, alone or as one of several ranks, and how it fails.
#pragma once

#include <string>

namespace quarksmith::apps {

/// Joins the ranks that were started with this one; results are printed by rank 0 alone from here on. Threads and ranks
/// get on with each other and with other processes: what the environment leaves open about them is set here, for which
/// the process may start itself anew, so this is the first thing that main does.
/// \throws UsageError they are not the same command of the same build.
void join_ranks(int argc, const char* const* argv);
/// Prints the error on which a rank ends: once if all have met the same, else which rank it was. If others have not
/// failed, the job is aborted, for they may wait for this rank for ever.
/// \return the exit status.
int fail(const std::string& message, int status);

}  // namespace quarksmith::apps
