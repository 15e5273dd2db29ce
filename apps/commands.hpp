/// \file
/// The command as a whole.
#pragma once

namespace quarksmith::apps {

/// Does what a command line says; what it cannot do it tells in one line on standard error. \return the exit status.
int run_command_line(int argc, char** argv);

}  // namespace quarksmith::apps
