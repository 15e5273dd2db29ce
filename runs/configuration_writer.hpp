/// \file
/// Writing of configurations while a run continues.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "runs/session.hpp"
#include "runtime/io/gauge.hpp"

namespace quarksmith::runs {

/// Writes the configurations PREFIX_<number>.ildg of a run, one at a time. A single process writes on a separate
/// thread, as work on a GPU, or waiting for a disk, leaves processors idle; several ranks write together before they
/// continue.
class ConfigurationWriter {
 public:
  /// Called on the run's own thread when a file is complete, with the seconds that writing took.
  using Report = std::function<void(std::uint64_t number, double seconds)>;

  /// \param session must outlive this. \param existing what happens to files that have these names.
  ConfigurationWriter(Session& session, std::string prefix, Existing existing, Report report);

  /// Begins to write a configuration, after the one before is complete.
  /// \param end number of the last configuration, whose name was claimed at the start; it is complete on return.
  /// \throws Error this file or the one before cannot be written.
  void write(std::uint64_t number, std::uint64_t end, HostGauge gauge, std::vector<ExtraRecord> records);
  /// Reports a file if it is complete by now. \throws Error it could not be written.
  void look();
  /// Waits until the file is complete, and reports it. \throws Error it could not be written.
  void wait();

 private:
  struct Writing {
    std::uint64_t number;
    std::future<double> seconds;
  };

  Session& session_;
  std::string prefix_;
  Existing existing_;
  Report report_;
  std::optional<Writing> writing_;
};

}  // namespace quarksmith::runs
