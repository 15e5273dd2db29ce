/// \file
/// What an earlier part of a run has left, with which the same command line goes on.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runs/print.hpp"

namespace quarksmith::runs {

/// The name of a configuration of a run, or of what belongs to it: PREFIX_<number>.ildg.
std::filesystem::path configuration_name(const std::string& prefix, std::uint64_t number,
                                         std::string_view ending = ".ildg");

/// The names of a run, which are its own from here on, and a lock that an earlier run has left of the file with which
/// this one begins removed. Ranks do it together: rank 0 has the lock.
PathLock lock_run(const std::string& prefix, const std::string& resumed, Communicator& ranks);
/// The one of that prefix with the largest number; empty: there is none. Ranks have it together.
std::string last_configuration(const std::string& prefix, Communicator& ranks);

/// Notes of what fields hold end so; runs from before there were any have none.
constexpr std::string_view digest_note = " digest";
/// `WHAT: KEY` of all that must be the same when a run goes on, with its values.
using RunKeys = std::map<std::string, std::string>;
/// Those that JSON has; none: it is damaged.
std::optional<RunKeys> keys_in(const nlohmann::json& run);
/// In which an earlier run differs from one of now, in words; empty: in none. Digests that it has not noted are alike.
std::string differences(RunKeys before, const RunKeys& now);

/// The record in which a configuration keeps the state of its run. \param command that writes such files.
/// \param goes_on the file is the last one of --out, not one that --resume names. \throws UsageError it has none.
std::string read_state(const std::string& file, const char* record, const char* command, bool goes_on);

/// A file that may be JSON, as rank 0 sees it; discarded: there is none, or it is something else.
Json json_in(const std::filesystem::path& path, Communicator& ranks);

/// The JSON of an earlier part of a run, if there is one that has the values of `same` and a list of what has been done
/// that begins with number `first` and reaches to `done` at least: names of its keys. Ranks have it together.
std::optional<Json> previous_json(const std::filesystem::path& path, const Json& same, const char* first,
                                  const char* list, std::uint64_t done, Communicator& ranks);

}  // namespace quarksmith::runs
