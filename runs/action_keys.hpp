/// \file
/// Actions by the keys of a table of RUN.toml.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runs/action.hpp"
#include "runs/table_reader.hpp"

namespace quarksmith::runs {

/// What has an action: its name in messages, and its keys that are no parameters of an action.
struct KeyRules {
  std::string user;
  std::vector<std::string> own;
};

/// What a table says of an action: parameters and spellings by key, the boundary, slices and fields.
struct ActionKeys {
  std::map<std::string, const Value*, std::less<>> parameters;
  Phases boundary{1, 1, 1, -1};
  int slices = 16;
  bool has_slices = false;
  std::vector<std::string> fields;  ///< NAME=FILE
};

/// Reads them, in place of those of the same names that are there already. \param info of the action that they change.
void read_keys(TableReader& table, const KeyRules& rules, const ActionInfo* info, ActionKeys& keys);

/// The action of these keys, and in the notes of the table the digests of a formula that is not the library's and of
/// fields. \param folder from which the paths of fields start.
/// \throws UsageError the message names file, line and remedy.
Action read_action(TableReader& table, const KeyRules& rules, const std::string& name, const ActionKeys& keys,
                   const Lattice& lattice, const std::filesystem::path& folder, const Session& session);

}  // namespace quarksmith::runs
