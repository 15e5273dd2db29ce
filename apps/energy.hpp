/// \file
/// Energy that a device draws, where it reports that.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "runtime/device.hpp"

namespace quarksmith::apps {

/// A counter of joules.
class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  /// Joules drawn since some moment; never falls.
  virtual double joules() = 0;
  /// What is counted, in words.
  virtual std::string description() const = 0;

  /// The meter of a device: NVML's counter of a GPU, loaded at run time; for the CPU the RAPL zones of packages and
  /// memory under `powercap` (Linux, /sys/class/powercap). If there is none, null, and `why` says why.
  static std::unique_ptr<EnergyMeter> open(const Device& device, const std::filesystem::path& powercap,
                                           std::string& why);
};

/// What one call of some work drew, and the mean power meanwhile. NaN if the counter stood still.
struct Energy {
  double joules, watts;
};

/// Energy of one call of `work`, which takes about `seconds`: from at least half a second of calls between two ticks of
/// the counter, which some devices advance only ten times a second; given up when it stands still for two seconds.
Energy energy_of(EnergyMeter& meter, Device& device, const std::function<void(int)>& work, double seconds);

}  // namespace quarksmith::apps
