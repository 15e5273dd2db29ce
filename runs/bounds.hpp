/// \file
/// Times of kernels, and the bandwidths and peaks that limit them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "runs/print.hpp"
#include "runtime/device.hpp"

namespace quarksmith::runs {

/// Median seconds of one call of `work`: after a warm-up, from samples of several calls each that fill `budget`. \param
/// whole rounds the number of calls of a sample.
double time_of(
    Device& device, const std::function<void(int)>& work, double budget,
    const std::function<int(int)>& whole = [](int calls) { return calls; });

/// Bandwidths and peaks that limit the kernels of a device.
struct Bounds {
  double copy = 0;  ///< bytes a second, well beyond the caches
  std::size_t cache_bytes = 0;
  double cache = 0;                          ///< bytes a second of a copy within the last cache
  std::map<std::string, double> peaks = {};  ///< GFLOP/s by precision, where they are known
  Json json() const;
  std::string text() const;
};

/// Measures the bounds of a device. \param budget seconds for each.
Bounds bounds_of(const std::shared_ptr<Device>& device, double budget);

}  // namespace quarksmith::runs
