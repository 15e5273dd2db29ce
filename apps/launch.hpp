/// \file
/// Start of the command, alone or as one of several ranks, and its failure.
#pragma once

#include <string>

namespace quarksmith::apps {

/// Joins the ranks that were started with this one; results are printed by rank 0 alone from here on. Sets variables of
/// the environment that OpenMP and MPI need to share processors with other threads, ranks and processes, unless they
/// are set; as the process may have to restart itself for this, main calls it first.
/// \throws UsageError they are not the same command of the same build.
void join_ranks(int argc, const char* const* argv);
/// Prints the error on which a rank ends: once if all have met the same, else which rank it was. If others have not
/// failed, the job is aborted, for they may wait for this rank for ever.
/// \return the exit status.
int fail(const std::string& message, int status);

}  // namespace quarksmith::apps
