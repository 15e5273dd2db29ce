/// \file
/// Things that have a file each in a folder and are listed nowhere else.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace quarksmith {

/// All things of a kind, in the order of their files. FOLDER/NAME.cpp defines `const Kind FOLDER::NAME`; of these
/// cmake/listed.cmake makes the list, which refers to each by name: linkers drop objects of a static library that only
/// register themselves.
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
