/// \file
/// SHA-256 (FIPS 180-4), by which a module of kernels is recognised.
#pragma once

#include <string>
#include <string_view>

namespace quarksmith {

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace quarksmith
