/// \file
/// Files of an earlier part of a run, with which the same command line continues it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runs/print.hpp"

namespace quarksmith::runs {

/// The name of a configuration of a run, or of a file that belongs to it: PREFIX_<number>.ildg.
std::filesystem::path configuration_name(const std::string& prefix, std::uint64_t number,
                                         std::string_view ending = ".ildg");

/// Locks the file names of a run, and removes a stale lock of the file from which it continues. Collective: rank 0
/// holds the lock.
PathLock lock_run(const std::string& prefix, const std::string& resumed, Communicator& ranks);
/// The configuration with this prefix and the largest number; empty if there is none. Collective.
std::string last_configuration(const std::string& prefix, Communicator& ranks);

/// Ending of the keys of digests of fields, which older runs do not have.
constexpr std::string_view digest_note = " digest";
/// `WHAT: KEY` of all that must be the same when a run goes on, with its values.
using RunKeys = std::map<std::string, std::string>;
/// Those that JSON has; none: it is damaged.
std::optional<RunKeys> keys_in(const nlohmann::json& run);
/// In which an earlier run differs from one of now, in words; empty: in none. Digests that it has not noted are alike.
std::string differences(RunKeys before, const RunKeys& now);

/// The record in which a configuration keeps the state of its run. \param command that writes such files.
/// \param goes_on whether the file is the last one of --out, not one named by --resume. \throws UsageError it has no
/// such record.
std::string read_state(const std::string& file, const char* record, const char* command, bool goes_on);

/// Reads a JSON file on rank 0, for all ranks; the result is `discarded` if it does not exist or is not JSON.
Json json_in(const std::filesystem::path& path, Communicator& ranks);

/// The JSON of an earlier part of a run, if it has the values of `same` and its steps reach to `done`. \param
/// first,list keys of the number of steps before those of the report, and of the list of its steps. Collective.
std::optional<Json> previous_json(const std::filesystem::path& path, const Json& same, const char* first,
                                  const char* list, std::uint64_t done, Communicator& ranks);

}  // namespace quarksmith::runs
