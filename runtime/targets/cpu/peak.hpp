/// \file
/// Bounds of the host's processors: size of the last cache, and peak of arithmetic.
#pragma once

#include <cstddef>

namespace quarksmith::cpu {

/// Bytes of the last caches of all processors that this process may use, as the system tells; 0: it does not.
std::size_t last_cache_bytes();
/// Flops a second that all threads reach with fused multiply-adds in registers of so many bytes; 0: there is no loop
/// for these. \param real_bytes 4 or 8
double peak(int register_bytes, int real_bytes);

}  // namespace quarksmith::cpu
