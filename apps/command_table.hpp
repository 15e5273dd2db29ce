/// \file
/// The command's own table of subcommands and options: what its completions, its manual page and its errors are made
/// of.
#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runs/describe.hpp"

namespace quarksmith::apps {

/// An option or positional argument.
struct OptionEntry {
  std::vector<std::string> names;  ///< with their dashes, the longest last; of a positional argument its name
  std::string description, type, fallback;
  bool positional, takes_value, required;
  bool several;                      ///< may be given again
  std::vector<std::string> choices;  ///< values, where only some are possible
};

struct CommandEntry {
  std::string name, description;
  std::vector<OptionEntry> options;
};

/// Adds a member of a description to the options of a command: CLI11 takes words apart, and members read them.
void declare(const runs::Member& member, CLI::App& command);
/// `--max-iterations`
std::string option_name_of(const runs::Member& member);

/// Options of one command, in the order of their declaration; hidden ones are left out.
CommandEntry command_entry(const CLI::App& command);
/// All subcommands.
std::vector<CommandEntry> command_table(const CLI::App& app);

/// Refuses a first word that is neither a command nor an option of all.
/// \throws UsageError with the nearest command
void check_command(const CLI::App& app, int argc, const char* const* argv);
/// One line that says what is wrong with a command line and what to do.
std::string wrong_use(const CLI::App& app, const CLI::ParseError& error);

/// `quarksmith completion bash|zsh|fish`
void add_completion(CLI::App& app, int& status);
/// `quarksmith man`
void add_manual(CLI::App& app, int& status);

}  // namespace quarksmith::apps
