/// \file
/// All runs by their names, as doors (command line, C, Python) call them.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "runs/session.hpp"
#include "solvers/measure/quark_columns.hpp"

namespace quarksmith::runs {

/// What a run leaves besides its report (Session::reported) and its files.
struct Outcome {
  int status = 0;  ///< exit status of the command: 0 done, 1 failed
  std::optional<HostGauge> gauge;
  std::optional<QuarkColumns> quark;
  std::optional<SpinorField> vectors;  ///< of `eigen`, as right-hand sides on all sites
  const BasisInfo* vectors_basis = nullptr;
};

/// A run that has been described, or is to be.
class Task {
 public:
  virtual ~Task() = default;
  virtual Description& description() = 0;
  /// \throws Error as the run does.
  virtual Outcome start(Session& session) = 0;
};

/// The task of a description D, for which a function `Outcome run(D&, Session&)` does the work.
template <class D>
std::unique_ptr<Task> task() {
  class Of final : public Task {
   public:
    Description& description() override { return described_; }
    Outcome start(Session& session) override { return run(described_, session); }

   private:
    D described_;
  };
  return std::make_unique<Of>();
}

/// A run that users can ask for by name. Each is a file of runs/commands, which lists itself (cmake/listed.cmake).
struct Command {
  std::string_view name, help;
  int place = 0;      ///< in the order of help
  unsigned uses = 0;  ///< Session::Use
  std::unique_ptr<Task> (*make)() = nullptr;
  std::string_view leaves = "report";  ///< for a program, besides a report: `gauge`, `quarks`, `eigenvectors`
  bool of_shell = false;               ///< it writes files of a shell, or starts itself again: no program calls it
};

/// All of them, in the order of help.
std::vector<const Command*> all_commands();
/// \throws UnknownName there is none of this name that programs can call.
const Command& command_named(std::string_view name);

/// A command in a session: what can be said of both, read and run together.
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
