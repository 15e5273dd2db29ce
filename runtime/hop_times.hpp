/// \file
/// How long hopping terms take, reported by devices that measure it.
#pragma once

namespace quarksmith {

/// Interface of devices whose kernels are done when the call that runs them returns.
class HopTimes {
 public:
  virtual ~HopTimes() = default;
  /// Seconds in hopping terms so far, ghost zones packed but not waited for.
  virtual double hopping_seconds() const = 0;
};

}  // namespace quarksmith
