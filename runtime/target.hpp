/// \file
/// Targets, for which kernels are compiled, and how their devices are opened.
#pragma once

#include <memory>
#include <span>
#include <string_view>

namespace quarksmith {

class Device;

/// A target that is built in. runtime/targets/NAME defines NAME::target and holds all code that is special to it;
/// generator/targets.py has its row for the generator.
struct Target {
  std::string_view name;                       ///< of its folder, as in `--device`
  int (*devices)();                            ///< number of devices that can be used
  std::shared_ptr<Device> (*open)(int index);  ///< \throws Error there is no such device, or it cannot be used
  std::string_view (*table)();                 ///< table of kernels that its devices use (KernelTable::name)
};

/// Targets that are built in, the host's processors first. This list and the next are made by cmake/targets.cmake.
std::span<const Target* const> targets();
/// Names of all targets, built in or not.
std::span<const std::string_view> target_names();

/// A target by name; null if it is not built in.
const Target* find_target(std::string_view name);
/// The first target other than the host's processors that has a device; null if none has.
const Target* accelerator();

}  // namespace quarksmith
