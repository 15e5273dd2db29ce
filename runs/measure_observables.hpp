/// \file
/// Observables of links in RUN.toml: a row for each kind.
#pragma once

#include <functional>
#include <string>

#include "runs/table_reader.hpp"
#include "runtime/io/record.hpp"
#include "solvers/gauge/gauge_fixing.hpp"

namespace quarksmith::runs {

/// A configuration as observables see it.
struct ObservablePlace {
  const HostGauge& gauge;
  DomainPointer domain;
  /// Links smeared as a text says, with all reals.
  std::function<std::shared_ptr<const LinkField>(const std::string& smearing)> links;
  std::function<void()> look;  ///< now and then; throws to end it
};

struct MeasureObservable {
  std::string name, kind;
  std::function<RecordArray(const ObservablePlace& place)> measure;
};

/// \throws UsageError the message names file, line and remedy.
MeasureObservable read_observable(TableReader& table, const std::string& name, const Lattice& lattice);

/// Prefixes of files that [gauge_fixing] writes; empty: none.
struct FixingFiles {
  std::string links, transformation;
};
GaugeFixing read_gauge_fixing(TableReader& table, const std::filesystem::path& folder, FixingFiles& files);

}  // namespace quarksmith::runs
