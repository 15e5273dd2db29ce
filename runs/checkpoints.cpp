#include "runs/checkpoints.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {
namespace {

namespace fs = std::filesystem;

/// Number of a configuration by its name; -1: it has none of this prefix.
long long number_of(const std::string& name, const std::string& prefix) {
  constexpr std::string_view ending = ".ildg";
  if (!name.starts_with(prefix + "_") || !name.ends_with(ending)) return -1;
  const char *begin = name.data() + prefix.size() + 1, *end = name.data() + name.size() - ending.size();
  long long n = -1;
  const auto [rest, error] = std::from_chars(begin, end, n);
  // Another name of that number is another file.
  return error == std::errc() && rest == end && n >= 0 && name == configuration_name(prefix, std::uint64_t(n)) ? n : -1;
}

}  // namespace

fs::path configuration_name(const std::string& prefix, std::uint64_t number, std::string_view ending) {
  return fmt::format("{}_{:05}{}", prefix, number, ending);
}

PathLock lock_run(const std::string& prefix, const std::string& resumed, Communicator& ranks) {
  PathLock lock;
  ranks.together([&] {
    if (ranks.rank() != 0) return;
    lock = PathLock(prefix);
    if (!resumed.empty()) clear_stale_lock(resumed);
  });
  return lock;
}

std::string last_configuration(const std::string& prefix, Communicator& ranks) {
  long long last = -1;
  if (ranks.rank() == 0) {
    const fs::path path(prefix);
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(path.has_parent_path() ? path.parent_path() : ".", ignored))
      if (entry.symlink_status(ignored).type() == fs::file_type::regular)
        last = std::max(last, number_of(entry.path().filename().string(), path.filename().string()));
  }
  ranks.broadcast(&last, sizeof(last), 0);
  return last < 0 ? "" : configuration_name(prefix, std::uint64_t(last)).string();
}

std::optional<RunKeys> keys_in(const nlohmann::json& run) {
  if (!run.is_object() || !std::all_of(run.begin(), run.end(), [](const auto& v) { return v.is_string(); })) return {};
  return run.get<RunKeys>();
}

namespace {

/// A value for messages: a number with the digits that tell it from others.
std::string shown(const std::string& value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = error == std::errc() && end == value.data() + value.size();
  return whole && value.find('.') != std::string::npos ? fmt::format("{}", number) : printable(value);
}

}  // namespace

std::string differences(RunKeys before, const RunKeys& now) {
  constexpr std::size_t most = 3;
  for (const auto& [key, value] : now)
    if (key.ends_with(digest_note)) before.emplace(key, value);
  const auto value = [](const RunKeys& keys, const std::string& key) {
    const auto found = keys.find(key);
    return found == keys.end() ? "missing" : found->second.empty() ? "by default" : found->second;
  };
  RunKeys both = before;
  both.insert(now.begin(), now.end());
  std::vector<std::string> all;
  for (const auto& [key, any] : both)
    if (value(before, key) != value(now, key))
      all.push_back(
          fmt::format("{} was {}, now {}", printable(key), shown(value(before, key)), shown(value(now, key))));
  if (all.size() > most) {
    const std::size_t more = all.size() - most;
    all.resize(most);
    all.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string read_state(const std::string& file, const char* record, const char* command, bool goes_on) {
  const std::string text = read_lime_text(file, record);
  if (text.empty())
    throw UsageError(
        goes_on ? fmt::format("{}: exists; nothing goes on from it, since it has no record {}: choose another --out "
                              "PREFIX, or begin anew with --overwrite",
                              file, record)
                : fmt::format("{}: has no record {}; only files written by `quarksmith {}` can be resumed", file,
                              record, command));
  return text;
}

Json json_in(const fs::path& path, Communicator& ranks) {
  std::string text;
  if (ranks.rank() == 0 && fs::is_regular_file(path)) {
    std::ifstream file(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return Json::parse(ranks.broadcast(text), nullptr, false);
}

std::optional<Json> previous_json(const fs::path& path, const Json& same, const char* first, const char* list,
                                  std::uint64_t done, Communicator& ranks) {
  if (path.empty()) return {};
  auto found = json_in(path, ranks);
  if (!found.is_object() || !found.contains(first) || !found[first].is_number_unsigned() || !found.contains(list) ||
      !found[list].is_array())
    return {};
  const auto begun = found[first].get<std::uint64_t>();
  if (begun > done || done - begun > found[list].size()) return {};
  for (const auto& [key, value] : same.items())
    if (!found.contains(key) || found[key] != value) return {};
  return found;
}

}  // namespace quarksmith::runs
