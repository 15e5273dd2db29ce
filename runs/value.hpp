/// \file
/// Values that users give, in the one form into which every door (command line, RUN.toml, C, Python) turns its own.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace quarksmith::runs {

struct Value;

/// Keys and values in the order in which they were given.
struct Table {
  std::vector<std::pair<std::string, Value>> entries;
  int line = 0;  ///< of the file, from 1; 0: there is no file

  const Value* find(std::string_view key) const;
};

/// Text of a door whose values have no types: a word of a command line, or what follows `name=` in C.
struct Word {
  std::string text;
};

struct Value {
  std::variant<Word, bool, long long, double, std::string, std::vector<Value>, Table> value;
  int line = 0;  ///< of the file, from 1; 0: there is no file
};

/// A value as text on a command line: lists with commas, numbers with all digits.
/// \throws UsageError it is a table.
std::string word_of(const Value& value);

}  // namespace quarksmith::runs
