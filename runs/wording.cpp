#include "runs/wording.hpp"

#include <fmt/format.h>

#include <algorithm>

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
    case Door::toml:
      break;
  }
  return {};
}

std::string Wording::message(int line, const std::string& wrong, bool with_help) const {
  if (door == Door::toml) return fmt::format("{}:{}: {}: {}", file, line, subject, wrong);
  return with_help ? fmt::format("{}: {}; {} shows its use", subject, wrong, help()) : wrong;
}

}  // namespace quarksmith::runs
