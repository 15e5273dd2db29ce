/// \file
/// Commands that another program runs in its own process: what comes from files and goes to them else, it gives and
/// takes in memory.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "solvers/measure/quark_columns.hpp"

namespace quarksmith::apps {

/// A program that runs commands, and what a command has left for it.
struct Caller {
  /// Configurations that options name as they name files.
  std::map<std::string, HostGauge, std::less<>> gauges;
  /// Numbers of fields that --field names as it names files: of all sites, lexicographic.
  std::map<std::string, std::vector<Complex64>, std::less<>> fields = {};
  /// Which compute together; null: all that were started together, who join when the first of them is asked for.
  std::shared_ptr<Communicator> ranks;
  /// Takes the lines that would go to standard error.
  std::function<void(const std::string& line, bool warning)> tell;
  /// Whether the program wants the command to end, as at SIGINT; asked often.
  std::function<bool()> interrupted;
  /// Takes what the JSON of hmc says of a trajectory that has ended; whether the run is to end with it.
  std::function<bool(const nlohmann::ordered_json& trajectory)> after_trajectory;

  std::string device;             ///< on which the command computed, as --device names it
  nlohmann::ordered_json result;  ///< of --json; null without one
  std::optional<HostGauge> gauge;
  std::string origin;  ///< of the configuration that it has read
  std::optional<QuarkColumns> quark;
  std::optional<SpinorField> vectors;  ///< of eigen, as right-hand sides on all sites
  const BasisInfo* vectors_basis = nullptr;
};

/// That of the command under way in this thread; null for a command line.
Caller* caller();

/// While it lives, commands of this thread are of a caller.
class CalledBy {
 public:
  explicit CalledBy(Caller& c);
  ~CalledBy();
  CalledBy(const CalledBy&) = delete;
  CalledBy& operator=(const CalledBy&) = delete;
};

/// What is printed while it lives, instead of on standard output.
class Printed {
 public:
  Printed();
  ~Printed();
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;
  std::string text();

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE *file_, *before_;
};

}  // namespace quarksmith::apps
