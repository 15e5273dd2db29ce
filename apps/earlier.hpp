/// \file
/// What an earlier part of a run has left, with which the same command line goes on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "apps/options.hpp"

namespace quarksmith::apps {

/// The name of a configuration of a run: PREFIX_<number>.ildg.
std::filesystem::path configuration_name(const std::string& prefix, std::uint64_t number);

/// A configuration of a run, and its number.
struct Checkpoint {
  std::filesystem::path path;
  std::uint64_t number = 0;
};

/// The one of that prefix with the largest number, if there is any. Ranks have it together.
std::optional<Checkpoint> last_configuration(const std::string& prefix, Communicator& ranks);

/// The JSON of an earlier part of a run, if there is one that has the values of `same` and a list of what has been done
/// that begins with number `first` and reaches to `done` at least: names of its keys. Ranks have it together.
std::optional<nlohmann::ordered_json> earlier_json(const std::filesystem::path& path,
                                                   const nlohmann::ordered_json& same, const char* first,
                                                   const char* list, std::uint64_t done, Communicator& ranks);

}  // namespace quarksmith::apps
