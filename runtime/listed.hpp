/// \file
/// Lists of objects of one kind, each defined in a file of its own; no other list needs to be edited to add one.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace quarksmith {

/// All objects of a kind, in the order of their files. FOLDER/NAME.cpp defines `const Kind FOLDER::NAME`, and
/// cmake/listed.cmake generates the list, which refers to each by name: linkers would drop objects of a static library
/// that only register themselves.
template <class Kind>
std::span<const Kind* const> listed();

/// Names of all members of a list.
template <class Kind>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const Kind* kind : listed<Kind>()) names.emplace_back(kind->name);
  return names;
}

}  // namespace quarksmith
