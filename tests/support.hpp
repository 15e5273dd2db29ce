/// \file
/// What several test files need: devices, comparison, test lattices.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/field.hpp"

namespace support {

using namespace quarksmith;

/// The CPU and, if there is one, GPU 0.
inline const std::vector<std::shared_ptr<Device>>& devices() {
  static const std::vector<std::shared_ptr<Device>> all = [] {
    std::vector<std::shared_ptr<Device>> found = {Device::cpu()};
    if (Device::cuda_devices() > 0) found.push_back(Device::cuda(0));
    return found;
  }();
  return all;
}

/// Relative 2-norm and largest element of a difference, both relative to the reference's root mean square element.
struct Deviation {
  double norm, largest;
};

inline Deviation compare(const HostSpinor& result, const HostSpinor& expected, Subset subset = Subset::full) {
  double difference = 0, size = 0, largest = 0;
  long long count = 0;
  for (long long x = 0; x < expected.lattice.sites(); ++x) {
    if (subset != Subset::full && int(Lattice::parity(expected.lattice.coordinates(x))) != int(subset)) continue;
    for (int k = 0; k < 12; ++k) {
      const double d = std::norm(result.site[x][k] - expected.site[x][k]);
      difference += d;
      size += std::norm(expected.site[x][k]);
      if (!(d <= largest)) largest = d;  // a NaN sticks
      ++count;
    }
  }
  const double mean = size / count;
  return {std::sqrt(difference / size), std::sqrt(largest / mean)};
}

/// Accuracy that a kernel must reach against the reference fed with the stored fields.
inline Deviation tolerance(std::string_view precision, std::string_view links) {
  const bool lossy = !links.empty() && !find_storage(links).exact;
  if (precision == "double") return lossy ? Deviation{1e-13, 2e-12} : Deviation{1e-14, 2e-13};
  if (precision == "single") return lossy ? Deviation{1e-5, 1e-4} : Deviation{1e-6, 2e-5};
  if (precision == "half") return lossy ? Deviation{1e-3, 2e-2} : Deviation{2e-4, 4e-3};
  return {2e-2, 4e-1};
}

/// A test name made of letters and digits.
inline std::string test_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

}  // namespace support
