#include "runs/stops.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <utility>

#include "runtime/clock.hpp"
#include "runtime/communicator.hpp"
#include "runtime/on_demand.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {
namespace {

constexpr unsigned usual_patience = 3;         ///< seconds until a run that does not look is ended
constexpr unsigned compilation_patience = 60;  ///< seconds after which one that does not end is left alone
/// Looks between two at which ranks meet.
constexpr unsigned looks_of_ranks = 16;
constexpr double by_time = 1000;  ///< a time limit among signals: above the number of any
/// Of a time limit, kept for files before any has been written: a part of it, but no more than so many seconds.
constexpr double reserved_part = 0.1, most_reserved = 60;

// What a signal handler may set and read; signals belong to the whole process.
volatile std::sig_atomic_t received = 0, allowed = usual_patience;
std::array<std::array<char, 1024>, 2> texts{};  ///< one is read, the other written
std::atomic<int> text = 0;

const char* name_of(int signal) { return signal == SIGTERM ? "SIGTERM" : signal == SIGHUP ? "SIGHUP" : "SIGINT"; }

extern "C" void at_signal(int signal) {
  received = signal;
  // A compilation ends by itself, its compilers and folders with it: late on a busy machine, but with a better message.
  alarm(pass_to_compilation(signal) ? compilation_patience : static_cast<unsigned>(allowed));
}

/// Only calls that a signal handler may make.
extern "C" void at_alarm(int) {
  const auto put = [](const char* line) { return write(STDERR_FILENO, line, std::strlen(line)) >= 0; };
  const int signal = received;
  put("quarksmith: error: ended by ") && put(name_of(signal)) && put("; ") && put(texts[text].data()) && put("\n");
  _exit(128 + signal);
}

}  // namespace

Interrupted::Interrupted(int signal, const Session& session)
    : Error(fmt::format("ended by {}; {}", name_of(signal), session.closing_line())), status_(128 + signal) {}

int Session::signal() const {
  if (received != 0) return received;
  return wants_end && wants_end() ? SIGINT : 0;
}

void Session::look() const {
  if (const int come = looked_after == 0 ? signal() : 0; come != 0) throw Interrupted(come, *this);
}

void Session::set_closing_line(const std::string& what) {
  at_end_ = printable(what);
  if (in_memory) return;  // signals are of the program that calls
  const int other = 1 - text;
  const std::string line = at_end_.substr(0, texts[other].size() - 1);
  std::copy_n(line.c_str(), line.size() + 1, texts[other].begin());
  text = other;
}

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

namespace {

/// Signals that would end a program at once, which those of interruptions (SIGINT) do not.
constexpr int ends_of_programs[] = {SIGTERM, SIGHUP};

extern "C" void at_lent_signal(int signal) { received = signal; }

bool ends_at_once(int signal) {
  struct sigaction present {};
  return sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_DFL;
}

}  // namespace

void Stops::borrow_signals() {
  struct sigaction action {};
  action.sa_handler = at_lent_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : ends_of_programs)
    if (ends_at_once(signal) && sigaction(signal, &action, nullptr) == 0) borrowed_.push_back(signal);
}

void Stops::return_signals() {
  for (const int signal : borrowed_) std::signal(signal, SIG_DFL);
  if (borrowed_.empty() || received == 0) return;
  const int come = std::exchange(received, 0);
  try {
    session_.warn(fmt::format("ended by {}; {}", name_of(come), session_.closing_line()));
  } catch (const std::exception&) {  // the program ends now, with or without a message
  }
  raise(come);
}

Stops::Stops(const std::string& limit, unsigned wait, Session& session) : session_(session) {
  if (!limit.empty()) limit_ = seconds_of(limit, session.wording.name("time_limit"));
  reserve_ = std::min(reserved_part * limit_, most_reserved);
  if (session.in_memory)
    borrow_signals();
  else
    allowed = static_cast<std::sig_atomic_t>(wait);
  ++session_.looked_after;
}

Stops::~Stops() {
  --session_.looked_after;
  if (session_.in_memory)
    return_signals();
  else
    allowed = usual_patience;
}

double Stops::reason(double next) const {
  const int come = session_.signal();
  const bool late = limit_ > 0 && session_.elapsed() + next + reserve_ > limit_;
  return come != 0 ? come : late ? by_time : 0;
}

bool Stops::due(double next) {
  if (due_) return true;
  const double found = session_.ranks().largest(reason(next));
  due_ = found != 0;
  if (due_ && found != by_time) signal_ = static_cast<int>(found);
  if (due_ && !session_.in_memory) alarm(0);  // it has been seen: files are written, however long that takes
  return due_;
}

bool Stops::ended() { return session_.ranks().size() > 1 && ++looks_ % looks_of_ranks != 0 ? due_ : due(); }

void Stops::look_among(Communicator& some) {
  if (some.size() > 1 && ++looks_among_ % looks_of_ranks != 0) return;
  if (some.largest(reason(0)) != 0) throw Stopped{};
}

void Stops::wrote(double seconds) {
  if (limit_ > 0) reserve_ = std::max(reserve_, 2 * seconds);
}

void Stops::end() const {
  if (by_signal()) throw Interrupted(signal_, session_);
}

void ResumableRun::work() {
  update_closing_line();
  try {
    Progress progress(title(), steps(), session_);
    begin(progress);
    for (double longest = 0; has_more() && !stops_.due(longest);) {
      const double begun = now();
      step(progress);
      longest = std::max(longest, now() - begun);
      update_closing_line();
    }
  } catch (const Stopped&) {  // the step at hand is given up
  } catch (const Error& error) {
    fail(error);
    throw;
  }
  if (!has_more()) return finish();
  stop();
  stops_.end();
  if (const std::string what = too_short(); !what.empty())
    throw Error(fmt::format("--time-limit {}: {}", time_limit_, what));
  session_.warn("--time-limit: " + kept());
}

double seconds_of(const std::string& text, const std::string& option) {
  const auto parts = split(text, ':');
  double seconds = 0;
  bool fine = parts.size() <= 3;
  for (std::size_t n = 0; fine && n < parts.size(); ++n) {
    const double part = number(parts[n], option);
    fine = part >= 0 && (n == 0 || part < 60);
    seconds = 60 * seconds + part;
  }
  if (!fine || !(seconds > 0 && seconds < 1e9))
    throw UsageError(fmt::format("{} {}: use a positive time as SECONDS, MM:SS or HH:MM:SS", option, text));
  return seconds;
}

}  // namespace quarksmith::runs
