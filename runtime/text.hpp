/// \file
/// Text from files, for messages and terminals.
#pragma once

#include <string>

namespace quarksmith {

/// The text in one line of UTF-8: control characters, and bytes that are no UTF-8, become `?`.
std::string printable(std::string text);

}  // namespace quarksmith
