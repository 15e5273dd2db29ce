/// \file
/// Files that a command reads and writes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace quarksmith::apps {

/// A path and the option that gave it; empty if it was not given.
struct NamedPath {
  std::string option;
  std::filesystem::path path;
};

/// \throws UsageError two outputs are the same file, or one is an input: the later would replace the earlier.
void require_distinct(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs = {});

}  // namespace quarksmith::apps
