/// \file
/// The command as a whole.
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

/// Does what a command line says; what it cannot do it tells in one line on standard error. \return the exit status.
int run_command_line(int argc, char** argv);
/// The same, with errors as exceptions.
/// \throws runs::Refusal, UsageError wrong use; Error as the run does.
int perform(int argc, const char* const* argv);

/// Runs, and `completion` and `man`, which tell of these: in the order of help.
std::vector<const runs::Command*> offered();
/// What shells ask at each TAB: it is in no list.
extern const runs::Command complete;
/// `--max-iterations`; of a word by its place its name.
std::string option_name_of(const runs::Member& member);
/// What help says of a member: its range is part of it.
std::string help_of(const runs::Member& member);

}  // namespace quarksmith::apps
