/// \file
/// Configurations of a run are written while the run goes on.
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

/// The configurations PREFIX_<number>.ildg of one run, one at a time. A process that is alone writes on a thread of its
/// own, since the links of a GPU, or a disk, leave processors idle; several ranks write together, before they go on.
class ConfigurationWriter {
 public:
  /// Called on the run's own thread when a file has its name, with what writing took in seconds.
  using Report = std::function<void(std::uint64_t number, double seconds)>;

  /// \param common outlives this. \param existing files of these names
  ConfigurationWriter(Session& session, std::string prefix, Existing existing, Report report);

  /// Begins to write, after what was begun before has ended.
  /// \param end number of the last one: its name was claimed at the start, and it is there when this returns.
  /// \throws Error the file before cannot be written, or this one.
  void write(std::uint64_t number, std::uint64_t end, HostGauge gauge, std::vector<ExtraRecord> records);
  /// Tells of a file that is there by now. \throws Error it could not be written.
  void look();
  /// The same, once it is.
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
