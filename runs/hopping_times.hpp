/// \file
/// Measured times of the hopping term, from files of `quarksmith bench --json` and `quarksmith scaling --json`.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runtime/lattice/lattice.hpp"
#include "runtime/registry.hpp"

namespace quarksmith::runs {

/// Times on one device for several volumes, and times on several ranks.
///
/// A device needs T(V) = t0 + V tau(V) for V sites of one parity. t0, from launch and memory latency, is the time of a
/// kernel on very few sites. The time per site tau is determined by memory bandwidth, and changes slowly with log V: on
/// larger volumes fields leave the caches, and the last blocks of a launch matter less. It is interpolated linearly in
/// log V, and constant beyond the volumes measured.
class HoppingTimes {
 public:
  /// \param links storage of links to take times of, e.g. `12`. \param launch seconds of a launch, t0.
  HoppingTimes(std::string links, double launch) : links_(std::move(links)), launch_(launch) {}

  /// Adds the times of a file; they replace earlier ones of the same volume.
  /// \throws UsageError there is no such file, or it is of neither kind.
  void read(const std::filesystem::path& file);

  /// Seconds of one launch of the hopping term on `half_sites` sites of one parity with `rhs` right-hand sides.
  /// \throws UsageError there is no time for this precision and number of right-hand sides.
  double seconds(const std::string& precision, int rhs, double half_sites) const;
  /// Precisions that were measured, in the order of the registry.
  std::vector<std::string> precisions() const;
  double launch() const { return launch_; }
  /// The device of the first file.
  const std::string& device() const { return device_; }

  /// A time on several ranks.
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
