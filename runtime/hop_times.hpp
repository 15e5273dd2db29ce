/// \file
/// How long hopping terms take, reported by devices that measure it.
#pragma once

namespace quarksmith {

/// Interface of devices that measure hopping terms: their kernels have finished when the call returns.
class HopTimes {
 public:
  virtual ~HopTimes() = default;
  /// Seconds in hopping terms so far, including packing of halos but not waiting for them.
  virtual double hopping_seconds() const = 0;
};

}  // namespace quarksmith
