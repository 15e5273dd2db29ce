/// \file
/// NVML (NVIDIA Management Library): energy of GPUs and the links between them. Loaded at first use.
#pragma once

#include <memory>
#include <string>

#include "runtime/device.hpp"

namespace quarksmith::cuda {

/// In words, e.g. `NVLink, 18 links`, `PCIe, through the host bridge`; `unknown`, and `why` says why, without NVML.
/// GPUs are named by their address on the bus.
std::string link_between(const std::string& a, const std::string& b, std::string& why);
/// Null, and `why` says why, if there is no counter.
std::unique_ptr<EnergyMeter> energy_meter(const std::string& address, std::string& why);

}  // namespace quarksmith::cuda
