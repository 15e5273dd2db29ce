/// \file
/// How each door writes the names of what users give.
#pragma once

#include <string>
#include <string_view>

namespace quarksmith::runs {

/// Where values come from: the words of messages follow.
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
  /// Where all members are listed: "`quarksmith solve --help`", `help(quarksmith.solve)`.
  std::string help() const;
  /// What is wrong, with the file and line where it is, or with where help is.
  std::string message(int line, const std::string& wrong, bool with_help) const;
};

/// A text of runs and solvers in the words of a door: they write members as command lines have them,
/// `--max-iterations`, which is `max_iterations` elsewhere. Command lines in backquotes stay.
std::string in_words_of(Door door, const std::string& text);

}  // namespace quarksmith::runs
