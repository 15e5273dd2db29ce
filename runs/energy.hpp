/// \file
/// Energy that a device draws, where it reports that.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "runtime/device.hpp"

namespace quarksmith::runs {

/// The meter of a device; of the host's processors the RAPL zones of packages and memory under `powercap` (Linux,
/// /sys/class/powercap). If there is none, null, and `why` says why.
std::unique_ptr<EnergyMeter> open_energy_meter(const Device& device, const std::filesystem::path& powercap,
                                               std::string& why);

/// What one call of some work drew, and the mean power meanwhile. NaN if the counter stood still.
struct Energy {
  double joules, watts;
};

/// Energy of one call of `work`, which takes about `seconds`: from at least half a second of calls between two ticks of
/// the counter, which some devices advance only ten times a second; given up when it stands still for two seconds.
Energy energy_of(EnergyMeter& meter, Device& device, const std::function<void(int)>& work, double seconds);

}  // namespace quarksmith::runs
