/// \file
/// Loading of libraries at run time: only those that were built here, unchanged, from folders in which nobody else can
/// write.
#pragma once

#include <string>

namespace quarksmith {

/// Loads a library whose digest is in FILE.sha256. The file stays open between check and loading.
/// \param why set to the reason if the library is not loaded.
/// \return null if the library is not loaded.
void* load_checked(const std::string& file, std::string& why);

}  // namespace quarksmith
