/// \file
/// The command `quarksmith`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runs/command.hpp"

namespace quarksmith::apps {

inline constexpr const char* about = "Quarksmith: generated kernels and solvers for lattice QCD.";
inline constexpr const char* exit_statuses =
    "Exit status: 0 done, 1 failed (not converged, data corrupt), 2 wrong use, 128 + n ended by signal n.\n"
    "`quarksmith COMMAND --help` shows the options of a command.";

/// Runs a command line; reports errors in one line on standard error. \return the exit status.
int run_command_line(int argc, char** argv);
/// Runs a command line, with errors as exceptions.
/// \throws runs::Refusal, UsageError wrong use; Error as the run does.
int perform(int argc, const char* const* argv);

/// All commands in the order of help: runs, `completion` and `man`.
std::vector<const runs::Command*> offered();
/// The hidden command that shells call at each TAB.
extern const runs::Command complete;
/// The option of a member, such as `--max-iterations`; for a positional one its name.
std::string option_name_of(const runs::Member& member);
/// The help of a member, with its range.
std::string help_of(const runs::Member& member);

}  // namespace quarksmith::apps
