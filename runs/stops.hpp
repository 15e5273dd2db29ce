/// \file
/// Early ends of runs: by SIGTERM of a batch system, SIGINT of Ctrl-C, SIGHUP of a closed terminal, or a time limit.
#pragma once

#include <string>
#include <vector>

#include "runs/session.hpp"

namespace quarksmith::runs {

/// Thrown when a run is ended by a signal.
class Interrupted : public Error {
 public:
  Interrupted(int signal, const Session& session);
  /// The exit status: 128 and the number of the signal.
  int status() const { return status_; }

 private:
  int status_;
};

/// Installs handlers, so that a signal ends the run at its next call of look(), with files closed and claims released;
/// or at once if there is no such call within seconds, or at a second signal.
void catch_signals();

/// Seconds after a signal within which an iteration of a solve, or a kick, must end.
constexpr unsigned solve_patience = 20;

/// Thrown to give up the present work because the run has to stop.
struct Stopped {};

/// Decides when a long run stops with its files in order: at a signal, or when its time is up. As long as this exists
/// signals do not end the run by themselves; a signal that would end the calling program does so afterwards.
/// Collective: ranks make the same calls and decide together.
class Stops {
 public:
  /// \param limit seconds from the start of the session, as `seconds_of` reads them; empty: none.
  /// \param patience seconds after a signal within which look() must be called; 0: no limit.
  Stops(const std::string& limit, unsigned patience, Session& session);
  ~Stops();
  Stops(const Stops&) = delete;
  Stops& operator=(const Stops&) = delete;

  /// Whether to stop now. \param next seconds that the next piece of work will take.
  bool due(double next = 0);
  /// Whether to stop within work that can be given up; may be called often.
  bool ended();
  /// \throws Stopped if ended().
  void look() {
    if (ended()) throw Stopped{};
  }
  /// The same where only some of the ranks look; these do it together, and all ranks have to look afterwards.
  void look_among(Communicator& some);
  /// Reserves time for writing files at the end. \param seconds that writing has taken.
  void wrote(double seconds);
  bool by_signal() const { return signal_ != 0; }
  /// \throws Interrupted if by_signal().
  void end() const;

 private:
  void borrow_signals();
  void return_signals();
  /// The signal that has come, or what stands for a time limit; 0: none.
  double reason(double next) const;

  double limit_ = 0, reserve_ = 0;
  Session& session_;
  unsigned looks_ = 0, looks_among_ = 0;
  int signal_ = 0;
  bool due_ = false;
  std::vector<int> borrowed_;  ///< signals that are handled here, as the calling program has no handler for them
};

/// A run in steps that stops when it is to, with what it has done kept, and goes on from there when it is started
/// again.
class ResumableRun {
 public:
  virtual ~ResumableRun() = default;

 protected:
  /// \param time_limit as it was given. \param stops outlives this.
  ResumableRun(Session& session, Stops& stops, std::string time_limit)
      : session_(session), stops_(stops), time_limit_(std::move(time_limit)) {}
  /// Does what is left. \throws Interrupted; Error as too_short() says; what the steps throw, but for Stopped.
  void work();
  void update_closing_line() const { session_.set_closing_line(kept()); }

  /// For lines of progress.
  virtual std::string title() const = 0;
  /// All of them, those of earlier runs too.
  virtual double steps() const = 0;
  /// Whether there are steps to make; before begin() also where it does not know yet.
  virtual bool has_more() const = 0;
  /// Called before the first step.
  virtual void begin(Progress&) {}
  virtual void step(Progress& progress) = 0;
  /// What there is to go on from, and how.
  virtual std::string kept() const = 0;
  /// Called after the last step.
  virtual void finish() = 0;
  /// Called in its place where there are more.
  virtual void stop() { finish(); }
  /// Called where an error ends the steps; may throw another in its place.
  virtual void fail(const Error&) {}
  /// What is missing where a time limit has left nothing to go on from; else empty.
  virtual std::string too_short() const { return {}; }

  Session& session_;
  Stops& stops_;

 private:
  std::string time_limit_;
};

/// `SECONDS`, `MM:SS` or `HH:MM:SS`. \throws UsageError it is none of these, or not positive.
double seconds_of(const std::string& text, const std::string& option);

}  // namespace quarksmith::runs
