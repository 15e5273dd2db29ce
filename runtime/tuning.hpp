/// \file
/// Results of offline sweeps, frozen when the library was built (generated/tuned).
#pragma once

#include <span>
#include <string_view>

namespace quarksmith {

/// Launches are of one of two classes, by the sites times right-hand sides that they work on: those of small lattices,
/// which a GPU holds all at once, and the others.
inline constexpr long long small_launch_sites = 1 << 17;

/// The variant that was fastest for a kernel.
struct TunedKernel {
  std::string_view kernel;
  bool small;                ///< class of launches
  std::string_view variant;  ///< name of a kernel of the same target; the kernel itself if nothing was faster
  bool stale;                ///< the kernel has changed since it was measured
};

/// What a sweep found on one device.
struct TunedDevice {
  std::string_view name;  ///< as the device reports itself
  std::span<const TunedKernel> kernels;
};

/// All devices whose results are part of this build.
std::span<const TunedDevice> tuned_devices();

}  // namespace quarksmith
