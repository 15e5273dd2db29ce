/// \file
/// Times of the hopping term that `quarksmith bench --json` and `quarksmith scaling --json` have written.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runtime/lattice/lattice.hpp"
#include "runtime/registry.hpp"

namespace quarksmith::runs {

/// Times on one device, a volume each, and on several ranks.
///
/// A device needs T(V) = t0 + V tau(V) for V sites of one parity. t0, launch and latency of memory, is what a kernel
/// takes however few its sites are. The time of a site tau is that of memory's bandwidth, and changes slowly with log V
/// as caches cease to hold the fields and the last blocks of a launch matter less. It is interpolated linearly in log
/// V, and constant beyond the volumes measured.
class HoppingTimes {
 public:
  /// \param links storage of links whose times are wanted, e.g. `12`. \param launch seconds of a launch, t0
  HoppingTimes(std::string links, double launch) : links_(std::move(links)), launch_(launch) {}

  /// Adds the times of a file; a volume that is there already is replaced.
  /// \throws UsageError no such file, or none of these two kinds.
  void read(const std::filesystem::path& file);

  /// Seconds of one launch of the hopping term on `half_sites` sites of one parity with `rhs` right-hand sides.
  /// \throws UsageError nothing was measured for that precision and number.
  double seconds(const std::string& precision, int rhs, double half_sites) const;
  /// Precisions that were measured, in the order of the registry.
  std::vector<std::string> precisions() const;
  double launch() const { return launch_; }
  /// The device of the first file.
  const std::string& device() const { return device_; }

  /// One time on several ranks.
  struct Shared {
    std::string precision, policy;
    int rhs;
    Coordinates lattice, grid;
    double seconds;
  };
  const std::vector<Shared>& shared() const { return shared_; }

 private:
  void add(const std::string& precision, int rhs, double half_sites, double seconds, const std::string& file);

  std::string links_, device_;
  double launch_;
  std::map<std::pair<std::string, int>, std::map<double, double>> site_;  ///< tau by sites of one parity
  std::vector<Shared> shared_;
};

}  // namespace quarksmith::runs
