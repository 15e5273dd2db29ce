/// \file
/// The clock by which runs are timed.
#pragma once

#include <chrono>

namespace quarksmith {

/// Seconds since an arbitrary moment; never set back.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace quarksmith
