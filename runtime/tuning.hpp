/// \file
/// Results of offline sweeps, frozen when the library was built (generated/tuned).
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace quarksmith {

/// Classes of launches, by the sites that they work on, and batches of right-hand sides for kernels that read links: a
/// GPU holds all sites of a small launch at once, those of a tiny one do not fill it. Of `few` there are fewer tiles
/// than groups of threads can share links; they are as `batch` where nothing else is known.
enum class LaunchSize { tiny, small, large, batch, few };
inline constexpr int launch_sizes = int(LaunchSize::few) + 1;
inline constexpr long long tiny_launch_sites = 1 << 13, small_launch_sites = 1 << 17;

/// The variant that was fastest for a kernel.
struct TunedKernel {
  std::string_view kernel;
  LaunchSize size;           ///< class of launches
  std::string_view variant;  ///< name of a kernel of the same target; the kernel itself if nothing was faster
  bool stale;                ///< the kernel has changed since it was measured
};

/// The fastest policy of halo exchange that was measured (runtime/ranks/halo.hpp).
struct TunedPolicy {
  std::string_view link;  ///< as Halos::link
  LaunchSize size;        ///< class of launches on the sites of one parity of the local lattice
  std::string_view precision;
  bool batch;  ///< of several right-hand sides
  std::string_view policy;
};

/// Results of a sweep on one device.
struct TunedDevice {
  std::string_view name;          ///< as the device reports itself
  std::string_view architecture;  ///< architecture of its kernels, as the device reports it; empty for CPUs
  std::span<const TunedKernel> kernels;
  std::span<const TunedPolicy> policies;
};

/// Kernels for this many right-hand sides or more share links in registers. On GPUs further tiles are then faster in
/// parallel than one after the other with links in shared memory, and have no class of their own (generator/launch.py).
inline constexpr int register_tile = 4;

/// Tiles of right-hand sides that give work to all groups of threads (generator/shapes.py).
inline constexpr int most_sharing_groups = 4;

/// The class of a launch on so many sites.
constexpr LaunchSize launch_size_of(long long sites) {
  return sites <= tiny_launch_sites    ? LaunchSize::tiny
         : sites <= small_launch_sites ? LaunchSize::small
                                       : LaunchSize::large;
}

/// All devices whose results are in this build.
std::span<const TunedDevice> tuned_devices();

/// Results for a device: its own first, then those of others of its architecture, which have the same multiprocessors
/// and differ in memory and clocks.
std::vector<TunedDevice> tuned_for(std::string_view device, std::string_view architecture);

}  // namespace quarksmith
