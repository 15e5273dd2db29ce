#include "runs/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runs/workload.hpp"
#include "runtime/roofs.hpp"

namespace quarksmith::runs {

double time_of(Device& device, const std::function<void(int)>& work, double budget,
               const std::function<int(int)>& whole) {
  int call = 0;
  const auto burst = [&](int calls) {
    return device.time([&] {
      for (int i = 0; i < calls; ++i) work(call++);
    });
  };
  burst(3);
  int calls = 1;
  double seconds = burst(calls);
  while (seconds < std::min(0.01, budget) && calls < 1 << 20) seconds = burst(calls *= 2);
  std::vector<double> samples;
  constexpr int most = 9;
  const int each = whole(std::max(1, static_cast<int>(calls * budget / most / seconds)));
  for (int n = 0; n < most; ++n) samples.push_back(burst(each) / each);
  return median(std::move(samples));
}

namespace {

/// Bytes a second of a copy, read and written bytes counted, well beyond the caches. On the CPU a quick look at
/// kernels, with a small `budget`, is one at the copy too: a gigabyte of fresh pages takes seconds.
double copy_bandwidth(const std::shared_ptr<Device>& device, double budget) {
  const bool quick = budget < 0.01;
  const std::size_t bytes = std::size_t(1) << (device->short_vectors() ? 31 : quick ? 26 : 29);
  Memory from(device, bytes), to(device, bytes);
  device->fill(from.data(), 1, bytes);
  device->fill(to.data(), 0, bytes);
  if (!device->short_vectors()) {
    // On the CPU the copy runs on all threads, as the kernels do.
    auto* in = static_cast<const double*>(from.data());
    auto* out = static_cast<double*>(to.data());
    const long long n = static_cast<long long>(bytes / sizeof(double));
    const double seconds = time_of(
        *device,
        [&](int) {
#pragma omp parallel for schedule(static)
          for (long long i = 0; i < n; ++i) out[i] = in[i];
        },
        quick ? 0.1 : 1.0);
    return 2.0 * bytes / seconds;
  }
  const double seconds = time_of(*device, [&](int) { device->copy(to.data(), from.data(), bytes); }, 0.5);
  return 2.0 * bytes / seconds;
}

/// The same within a cache of so many bytes: both fields in a quarter of it, since other processes use it too.
double cached_bandwidth(const std::shared_ptr<Device>& device, std::size_t cache_bytes) {
  const std::size_t bytes = std::max<std::size_t>(cache_bytes / 8, 1024);
  Memory from(device, bytes), to(device, bytes);
  device->fill(from.data(), 1, bytes);
  return 2.0 * bytes / time_of(*device, [&](int) { device->copy(to.data(), from.data(), bytes); }, 0.1);
}

}  // namespace

Json Bounds::json() const {
  Json j = {{"copy_bytes_per_second", copy}};
  if (cache_bytes > 0) j.update({{"cache_bytes", cache_bytes}, {"cache_bytes_per_second", cache}});
  if (!peaks.empty()) j["peak_gflops"] = peaks;
  return j;
}

std::string Bounds::text() const {
  std::string all = fmt::format("copy {:.2f} GB/s", copy * 1e-9);
  if (cache_bytes > 0)
    all += fmt::format(", in the cache of {:.3g} MiB {:.2f} GB/s", double(cache_bytes) / (1 << 20), cache * 1e-9);
  for (const auto& [name, peak] : peaks) all += fmt::format(", {} {:.4g} GFLOP/s", name, peak);
  return all;
}

Bounds bounds_of(const std::shared_ptr<Device>& device, double budget) {
  Bounds b{.copy = copy_bandwidth(device, budget)};
  const auto* const roofs = dynamic_cast<const Roofs*>(device.get());
  if (roofs == nullptr) return b;
  b.cache_bytes = roofs->cache_bytes();
  if (b.cache_bytes > 0) b.cache = cached_bandwidth(device, b.cache_bytes);
  for (const auto& [name, bytes] : {std::pair("double", 8), std::pair("single", 4)})
    if (const double peak = roofs->peak(bytes); peak > 0) b.peaks[name] = peak * 1e-9;
  return b;
}

}  // namespace quarksmith::runs
