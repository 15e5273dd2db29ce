#include "apps/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <cstring>

namespace quarksmith::apps {
namespace {

constexpr unsigned grace = 3;  ///< seconds until a run that does not look is ended

/// The one thing that a signal handler may set; signals belong to the whole process.
volatile std::sig_atomic_t received = 0;

const char* name_of(int signal) { return signal == SIGTERM ? "SIGTERM" : signal == SIGHUP ? "SIGHUP" : "SIGINT"; }

constexpr char kept[] =
    "; finished files are kept, and the columns in the .part of a propagator: the same command goes on from there";

extern "C" void at_signal(int signal) {
  received = signal;
  alarm(grace);
}

/// Only calls that a signal handler may make.
extern "C" void at_alarm(int) {
  const auto put = [](const char* text) { return write(STDERR_FILENO, text, std::strlen(text)) >= 0; };
  const int signal = received;
  put("quarksmith: error: ended by ") && put(name_of(signal)) && put(kept) && put("\n");
  _exit(128 + signal);
}

}  // namespace

Interrupted::Interrupted(int signal)
    : Error(std::string("ended by ") + name_of(signal) + kept), status_(128 + signal) {}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = at_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // a second one finds the default
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction present {};
    if (sigaction(signal, nullptr, &present) == 0 && present.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  struct sigaction timer {};
  timer.sa_handler = at_alarm;
  sigaction(SIGALRM, &timer, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // files beyond the limit of `ulimit -f` are errors, as on a full disk
}

void look_for_signals() {
  if (received != 0) throw Interrupted(received);
}

}  // namespace quarksmith::apps
