/// \file
/// What a file holds: a configuration, a propagator or eigenvectors, or measurements.
#pragma once

#include "runs/session.hpp"
#include "runtime/io/propagator.hpp"

namespace quarksmith::runs {

struct InfoDescription : Description {
  std::string file, lattice;
  void list(Members& members) override;
};

struct ConfigurationInfo {
  GaugeFile file;  ///< with the links, and what of the file was checked
  GaugeAverages averages;
  Unitarity unitarity;
};

struct ColumnsInfo {
  struct Column {
    std::string state;  ///< `sound`, `damaged`, or `missing` if it is still to be solved for
    std::string checksum;
    ColumnReport report;
  };
  std::string content;  ///< `propagator`, `eigenvectors`, ...
  bool finished;
  PropagatorForm form;
  Coordinates lattice;  ///< extents of the whole one
  Provenance provenance;
  std::vector<Column> columns = {};

  int count(std::string_view state) const;
};

struct RecordsInfo {
  std::vector<std::string> configurations;                   ///< by number
  std::map<std::string, std::vector<std::uint64_t>> arrays;  ///< extents by name
};

/// One of the three.
struct InfoResult {
  std::optional<ConfigurationInfo> configuration = {};
  std::optional<ColumnsInfo> columns = {};
  std::optional<RecordsInfo> records = {};
};
/// \throws UsageError a member is missing or wrong; Error the file cannot be read, or does not hold what it records.
InfoResult run(InfoDescription& description, Session& session);

}  // namespace quarksmith::runs
