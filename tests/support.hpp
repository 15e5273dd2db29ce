/// \file
/// What several test files need: devices, comparison, test lattices.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/field.hpp"

namespace support {

using namespace quarksmith;

/// Of sums of some hundred products in double.
inline constexpr double rounding = 1e-14;

/// The CPU and, if there is one, GPU 0.
inline const std::vector<std::shared_ptr<Device>>& devices() {
  static const std::vector<std::shared_ptr<Device>> all = [] {
    std::vector<std::shared_ptr<Device>> found = {Device::cpu()};
    if (const Target* gpus = accelerator(); gpus != nullptr) found.push_back(gpus->open(0));
    return found;
  }();
  return all;
}

/// Tests on each device.
class OnDevice : public testing::TestWithParam<std::shared_ptr<Device>> {
 protected:
  DomainPointer domain(const Lattice& lattice) const { return std::make_shared<Domain>(lattice, GetParam()); }
};
#define ON_EACH_DEVICE(Suite)                                                     \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite, testing::ValuesIn(support::devices()), \
                           [](const auto& info) { return support::test_name(info.param->name()); })

/// The message of an error that `work` throws; empty if it throws none.
template <class E = Error, class Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

/// Why a test skips what `built` misses.
constexpr const char* wide = "these kernels are of profile wide; make test-full has them";

/// Whether the build has the hopping terms of Wilson quarks, or of other `operation`, that a solver of this precision
/// ("double-half": both), links and basis asks for.
inline bool built(std::string_view precision, std::string_view links, std::string_view operation = "wilson",
                  std::string_view basis = "non_relativistic", int spins = 4, bool complex = false) {
  const std::size_t cut = precision.find('-');
  for (const std::string_view one : {precision.substr(0, cut), precision.substr(cut == precision.npos ? 0 : cut + 1)})
    if (try_find(kernels_of("cpu"), {.operation = operation,
                                     .precision = one,
                                     .links = links,
                                     .basis = basis,
                                     .complex_coefficients = complex,
                                     .spins = spins}) == nullptr)
      return false;
  return true;
}

/// Whether it has any kernel of an operation and precision.
inline bool has(std::string_view operation, std::string_view precision) {
  for (const Kernel& k : kernels_of("cpu"))
    if (k.operation == operation && k.precision == precision) return true;
  return false;
}

/// Relative 2-norm and largest element of a difference, both relative to the reference's root mean square element.
struct Deviation {
  double norm, largest;
};

Deviation compare(const HostSpinor& result, const HostSpinor& expected, Subset subset = Subset::full);

inline void expect_near(const HostSpinor& result, const HostSpinor& wanted, const Deviation& limit,
                        const std::string& what, Subset subset = Subset::full) {
  const Deviation d = compare(result, wanted, subset);
  EXPECT_LE(d.norm, limit.norm) << what;
  EXPECT_LE(d.largest, limit.largest) << what;
}

/// Of the elements of links.
double largest_difference(const HostGauge& a, const HostGauge& b);

/// Accuracy that a kernel must reach against the reference fed with the stored fields.
inline Deviation tolerance(std::string_view precision, std::string_view links) {
  const bool lossy = !links.empty() && !find_storage(links).exact;
  if (precision == "double") return lossy ? Deviation{1e-13, 2e-12} : Deviation{1e-14, 2e-13};
  if (precision == "single") return lossy ? Deviation{1e-5, 1e-4} : Deviation{1e-6, 2e-5};
  if (precision == "half") return lossy ? Deviation{1e-3, 2e-2} : Deviation{2e-4, 4e-3};
  // Formats with a shared scale: a few roundings of the largest number of a group; kernels compute in float or double.
  const PrecisionInfo& p = find_precision(precision);
  const double rounding = std::max(4 * std::ldexp(1.0, -p.bits), p.element_bytes == 4 ? 3e-7 : 0.0);
  return {rounding, 20 * rounding};
}

/// A site term as 12x12 matrices from its two blocks, in the DeGrand-Rossi basis.
std::vector<std::array<Complex64, 144>> whole_term(const std::vector<HostTerm>& blocks);

/// A kernel on a device, as a test's parameter.
struct KernelCase {
  std::shared_ptr<Device> device;
  const Kernel* kernel;
};
inline void PrintTo(const KernelCase& c, std::ostream* out) { *out << c.device->name() << " " << c.kernel->name; }

/// A suite for all emitted kernels that a condition on `k` accepts, on all devices.
#define FOR_KERNELS(Suite, ...)                                                                          \
  INSTANTIATE_TEST_SUITE_P(                                                                              \
      Kernels, Suite,                                                                                    \
      testing::ValuesIn(support::kernel_cases([](const quarksmith::Kernel& k) { return __VA_ARGS__; })), \
      support::kernel_case_name)

/// All emitted kernels that `wanted` accepts, on all devices.
template <class Wanted>
std::vector<KernelCase> kernel_cases(const Wanted& wanted) {
  std::vector<KernelCase> all;
  for (const auto& device : devices())
    for (const Kernel& kernel : device->kernels())
      if (kernel.colours == 3 && wanted(kernel)) all.push_back({device, &kernel});  // of others: colours_test.cpp
  return all;
}

/// A test name made of letters and digits.
inline std::string test_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

inline std::string kernel_case_name(const testing::TestParamInfo<KernelCase>& info) {
  return test_name(info.param.device->name() + "_" + std::string(info.param.kernel->name));
}

}  // namespace support
