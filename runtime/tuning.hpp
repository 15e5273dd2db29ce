/// \file
/// Results of offline sweeps, frozen when the library was built (generated/tuned).
#pragma once

#include <span>
#include <string_view>

namespace quarksmith {

/// Classes of launches, by the sites that they work on, and batches of right-hand sides for kernels that read links: a
/// GPU holds all sites of a small launch at once, those of a tiny one do not fill it.
enum class LaunchSize { tiny, small, large, batch };
inline constexpr int launch_sizes = 4;
inline constexpr long long tiny_launch_sites = 1 << 13, small_launch_sites = 1 << 17;

/// The variant that was fastest for a kernel.
struct TunedKernel {
  std::string_view kernel;
  LaunchSize size;           ///< class of launches
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
