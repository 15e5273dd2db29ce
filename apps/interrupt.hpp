/// \file
/// Ends by signals: SIGTERM of a batch system, SIGINT of Ctrl-C, SIGHUP of a closed terminal.
#pragma once

#include "runtime/error.hpp"

namespace quarksmith::apps {

/// The run was ended by a signal.
class Interrupted : public Error {
 public:
  explicit Interrupted(int signal);
  /// The exit status: 128 and the number of the signal.
  int status() const { return status_; }

 private:
  int status_;
};

/// From now on a signal ends the run at its next look, so that files are closed and names given back; where no look
/// comes within seconds, at once. A second signal ends it at once too.
void catch_signals();

/// A look. \throws Interrupted a signal has come.
void look_for_signals();

}  // namespace quarksmith::apps
