/// \file
/// Bounds of kernels besides the bandwidth of memory.
#pragma once

#include <cstddef>

namespace quarksmith {

/// Interface of devices that know these bounds.
class Roofs {
 public:
  virtual ~Roofs() = default;
  /// Bytes of the last cache, of all its parts that this process may use; 0: not known.
  virtual std::size_t cache_bytes() const = 0;
  /// Flops a second of fused multiply-adds of reals of so many bytes, 4 or 8; 0: not known.
  virtual double peak(int real_bytes) const = 0;
};

}  // namespace quarksmith
