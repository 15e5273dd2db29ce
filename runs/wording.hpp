/// \file
/// How messages of each door write names and values of options.
#pragma once

#include <string>
#include <string_view>

namespace quarksmith::runs {

/// The interface through which values come, which decides about the wording of messages.
enum class Door { command, toml, c, python, cpp };

/// How messages write names and values. Members are named by words joined with underscores, `max_iterations`.
struct Wording {
  Door door = Door::command;
  std::string subject;  ///< what takes the values: a command or function, or `monomial 'light'` of a file
  std::string file;     ///< that values come from; empty: none

  /// `--max-iterations` of a command line, `max_iterations` elsewhere.
  std::string name(std::string_view member) const;
  /// A member with a value: `--solver cg`, `solver='cg'` of Python, `solver = "cg"` of a file, `solver=cg` of C.
  std::string with(std::string_view member, std::string_view value) const;
  /// The help that lists all members: "`quarksmith solve --help`", `help(quarksmith.solve)`.
  std::string help() const;
  /// A message with the file and line of the error, or with a pointer to help.
  std::string message(int line, const std::string& wrong, bool with_help) const;
};

/// A text of runs and solvers in the words of a door: they write members as command lines have them,
/// `--max-iterations`, which is `max_iterations` elsewhere. Command lines in backquotes stay.
std::string in_words_of(Door door, const std::string& text);

}  // namespace quarksmith::runs
