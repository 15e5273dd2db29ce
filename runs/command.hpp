/// \file
/// Commands: runs by name, as doors (command line, C, Python) call them.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "runs/session.hpp"
#include "solvers/measure/quark_columns.hpp"

namespace quarksmith::runs {

/// Fields that doors take of the result of a run, besides its report (Session::reported) and its files.
struct Outcome {
  std::optional<HostGauge> gauge;
  std::optional<QuarkColumns> quark;
  std::optional<SpinorField> vectors;  ///< of `eigen`, as right-hand sides on all sites
  const BasisInfo* basis = nullptr;    ///< of the vectors
};
/// Of the struct that a run returns (runs/propagator.hpp), by the names of its members.
template <class Result>
Outcome outcome_of(Result result) {
  Outcome outcome;
  if constexpr (requires { result.gauge; }) outcome.gauge = std::move(result.gauge);
  if constexpr (requires { result.quark; }) outcome.quark = std::move(result.quark);
  if constexpr (requires { result.vectors; }) {
    outcome.vectors = std::move(result.vectors);
    outcome.basis = result.basis;
  }
  return outcome;
}

/// A run with its description, before it starts.
class Task {
 public:
  virtual ~Task() = default;
  virtual Description& description() = 0;
  /// Runs it with the present description. \throws Error as the run does.
  virtual Outcome start(Session& session) = 0;
};

/// The task of a description D, for which a function `run(D&, Session&)` does the work; it returns nothing, or a
/// struct.
template <class D>
std::unique_ptr<Task> task() {
  class Of final : public Task {
   public:
    Description& description() override { return described_; }
    Outcome start(Session& session) override {
      if constexpr (std::is_void_v<decltype(run(described_, session))>)
        return run(described_, session), Outcome();
      else
        return outcome_of(run(described_, session));
    }

   private:
    D described_;
  };
  return std::make_unique<Of>();
}

/// A command of users: a run with its name and help. Each is a file of runs/commands, which registers itself
/// (cmake/listed.cmake).
struct Command {
  std::string_view name, help;
  int place = 0;      ///< position in the order of help
  unsigned uses = 0;  ///< Session::Use
  std::unique_ptr<Task> (*make)() = nullptr;
  std::string_view leaves = "report";  ///< result for programs: `report`, `gauge`, `quarks`, `eigenvectors`
  bool of_shell = false;               ///< only for shells, as it writes completions or restarts itself
};

void enter(Description& description, Description& fresh, Session& session, const Command& command);
/// To be called first by runs that C++ programs may call directly. If no door has filled the description, members of it
/// and of the session that differ from the defaults count as given, and all are checked as doors do.
/// \throws Refusal, UsageError as fill.
template <class D>
void enter(D& description, Session& session, const Command& command) {
  if (D fresh; description.wording.door == Door::cpp) enter(description, fresh, session, command);
}

/// All commands, in the order of help.
std::vector<const Command*> all_commands();
/// A command by its name. \throws UnknownName there is no such command, or programs cannot call it.
const Command& command_named(std::string_view name);

/// A call of a command in a session, with the members of both in one list.
class Call {
 public:
  Call(const Command& command, Session& session);
  const Command& command() const { return command_; }
  Members& members() { return members_; }
  void fill(const Table& values, const Wording& wording) { runs::fill(members_, values, wording); }
  Outcome run() { return task_->start(session_); }

 private:
  const Command& command_;
  Session& session_;
  std::unique_ptr<Task> task_;
  Members members_;
};

}  // namespace quarksmith::runs
