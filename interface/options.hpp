/// \file
/// Options of quarksmith.h: texts of `name=value`, read by the tables of the command.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "apps/caller.hpp"
#include "apps/kept_solver.hpp"
#include "interface/handle.hpp"

namespace quarksmith::interface {

/// What stands for the links of a handle where an option names a configuration.
inline constexpr const char* links_word = "links";

/// Reads the options of a command of `app` and runs it.
/// \param more words `--name=value` that stand where the caller gives none of that name.
/// \throws StatusError a name is unknown, a value is missing or too much; UsageError as the command.
void parse(CLI::App& app, const std::string& command, const char* options, std::vector<std::string> more = {});

/// For the work of a call: the fields of some links are found, and nothing is written to standard error.
class Calling {
 public:
  explicit Calling(const NumbersByName* fields = nullptr);
  apps::Caller& caller() { return caller_; }
  const std::string& log() const { return log_; }

 private:
  std::string log_;
  apps::Caller caller_;
  apps::CalledBy by_;
};

/// An action on the links of a handle.
struct ActionOnLinks {
  ActionOnLinks();
  void add_to(CLI::App& command);
  apps::CommonOptions common;
  apps::ActionOptions action;
};
/// The options of the command that belong to files are those of a handle.
void hide_files(CLI::App& command);
/// Says nothing of what it does.
apps::CommonOptions quiet_options();

struct OperatorOptions : ActionOnLinks {
  static constexpr const char *function = "operator", *what = "An action's operator on the links, to apply";
  void add_to(CLI::App& command);
  /// \throws UsageError options that do not go together.
  void check(const CLI::App& command) const;
  std::string precision = "double", even_odd = "none", reconstruct = "12", basis = "non_relativistic";
};

struct KeptOptions : apps::SolveOptions {
  static constexpr const char *function = "solver", *what = "An action's operator on the links, to invert";
  KeptOptions();
  void add_to(CLI::App& command);
  bool guess = false;
};

struct ShiftedOptions : ActionOnLinks {
  static constexpr const char *function = "shifted", *what = "Its normal equations with shifts";
  void add_to(CLI::App& command);
  void check(const CLI::App& command) const;
  apps::SolverChoices choices;
  std::string precision = "double";
};

struct QuarkOptions : ActionOnLinks {
  static constexpr const char *function = "quark", *what = "A quark of molecular dynamics";
  void add_to(CLI::App& command);
  void check(const CLI::App& command) const;
  std::string even_odd, stout_directions = "xyzt";
  double stout_rho = 0, tolerance = 1e-10;
  int stout_steps = 0;
};

struct FieldOptions {
  static constexpr const char *function = "field", *what = "Spinors on the device";
  void add_to(CLI::App& command);
  std::string precision = "double", basis = "non_relativistic", sites = "all";
  int rhs = 1, spins = 4, slices = 1;
};

/// The options of a function, read.
template <class O>
class OptionsOf {
 public:
  explicit OptionsOf(const char* text) : command_(app_.add_subcommand(O::function, O::what)) {
    options_->add_to(*command_);
    parse(app_, O::function, text);
  }
  const CLI::App& command() const { return *command_; }
  const std::shared_ptr<O>& all() const { return options_; }
  const O* operator->() const { return options_.get(); }

 private:
  CLI::App app_;
  CLI::App* command_;
  std::shared_ptr<O> options_ = std::make_shared<O>();
};

/// The storage of links that is asked for, else that of the action on these.
template <class O>
std::string links_of(const OptionsOf<O>& o, const Action& action, const HostGauge& gauge) {
  if (o.command().count("--reconstruct") > 0) return std::string(find_storage("r" + o->reconstruct).name);
  return action.default_links(default_links(gauge));
}

}  // namespace quarksmith::interface
