#include "runs/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "runtime/text.hpp"

namespace quarksmith::runs {

std::string Wording::name(std::string_view member) const {
  std::string all(member);
  if (door != Door::command) return all;
  std::replace(all.begin(), all.end(), '_', '-');
  return "--" + all;
}

std::string Wording::with(std::string_view member, std::string_view value) const {
  switch (door) {
    case Door::command:
      return fmt::format("{} {}", name(member), value);
    case Door::toml:
      return fmt::format("{} = \"{}\"", member, value);
    case Door::c:
    case Door::cpp:
      return fmt::format("{}={}", member, value);
    case Door::python:
      return fmt::format("{}='{}'", member, value);
  }
  return {};
}

std::string Wording::help() const {
  std::string command(subject), function(subject);
  std::replace(command.begin(), command.end(), '_', '-');
  std::replace(function.begin(), function.end(), '-', '_');
  switch (door) {
    case Door::command:
      return fmt::format("`quarksmith {} --help`", command);
    case Door::c:
      return fmt::format("quarksmith_help(\"{}\", ...)", command);
    case Door::python:
      return fmt::format("help(quarksmith.{})", function);
    case Door::cpp:
      return fmt::format("runs/{}.hpp", command);
    case Door::toml:
      break;
  }
  return {};
}

std::string in_words_of(Door door, const std::string& text) {
  if (door == Door::command) return text;
  std::string said;
  bool of_shell = false;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '`') of_shell = !of_shell && text.find("`quarksmith ", n) == n;
    const bool begins = text.find("--", n) == n && n + 2 < text.size() && std::islower(text[n + 2]) != 0;
    if (of_shell || !begins || (n > 0 && (std::isalnum(text[n - 1]) != 0 || text[n - 1] == '-'))) {
      said += text[n];
      continue;
    }
    for (n += 2; n < text.size() && (std::isalnum(text[n]) != 0 || text[n] == '-'); ++n)
      said += text[n] == '-' ? '_' : text[n];
    --n;
  }
  return said;
}

std::string Wording::message(int line, const std::string& wrong, bool with_help) const {
  if (door == Door::toml) return fmt::format("{}:{}: {}: {}", file, line, subject, wrong);
  return with_help ? fmt::format("{}: {}; {} shows its use", subject, wrong, help()) : wrong;
}

}  // namespace quarksmith::runs
