/// \file
/// Libraries that are loaded at run time, with the rights of the user: only what was built, from where nobody else
/// writes.
#pragma once

#include <string>

namespace quarksmith {

/// Loads a library whose digest stands beside it in FILE.sha256. What is checked and what is loaded are one open file.
/// \param why set to the reason if it is not loaded.
/// \return null then.
void* load_checked(const std::string& file, std::string& why);

}  // namespace quarksmith
