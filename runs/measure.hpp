/// \file
/// Measurements on many configurations, from one file.
#pragma once

#include "runs/session.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::runs {

struct MeasureDescription : Description {
  std::filesystem::path run, out;
  std::string time_limit, split;
  bool dry_run = false;
  void list(Members& members) override;
};

/// What would be made on each configuration, in which order.
struct MeasureGraph {
  struct Step {
    std::string makes, what;         ///< its name; in words
    std::size_t bytes;               ///< that propagators take while it is made
    std::vector<std::string> frees;  ///< what is not needed any more, a result itself
  };
  struct Quark {
    std::string name;
    long long columns;             ///< of all configurations
    double seconds_per_iteration;  ///< of a column
  };
  Coordinates lattice;  ///< extents of the whole one
  std::size_t configurations;
  int positions;           ///< of the sources, on each of them
  long long solves;        ///< on all of them
  std::size_t most_bytes;  ///< on a rank
  std::vector<Quark> quarks = {};
  std::vector<Step> steps = {};
};

struct MeasureResult {
  std::map<std::string, std::string> keys;  ///< what RUN.toml says, `WHAT: KEY`
  bool finished = false;                    ///< else single configurations are kept to go on from
  std::vector<Record> records = {};         ///< of finished runs, by number of the configuration; on rank 0
  std::optional<MeasureGraph> graph = {};   ///< of `dry_run`, which measures nothing
};
/// \throws UsageError a member or RUN.toml is wrong, or `out` is of another run; NotSU3; Error a solve did not
/// converge, or a file cannot be read or written; Interrupted.
MeasureResult run(MeasureDescription& description, Session& session);

}  // namespace quarksmith::runs
