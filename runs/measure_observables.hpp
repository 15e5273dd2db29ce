/// \file
/// Observables of links in RUN.toml: a row for each kind.
#pragma once

#include <functional>
#include <string>

#include "runs/table_reader.hpp"
#include "runtime/io/record.hpp"
#include "solvers/gauge/gauge_fixing.hpp"

namespace quarksmith::runs {

/// A configuration on which observables are measured.
struct ObservablePlace {
  const HostGauge& gauge;
  DomainPointer domain;
  /// Smeared links, stored with all reals. \param smearing such as `stout:RHO:STEPS`; empty: none.
  std::function<std::shared_ptr<const LinkField>(const std::string& smearing)> links;
  std::function<void()> look;  ///< called from time to time; may end the measurement by an exception
};

struct MeasureObservable {
  std::string name, kind;
  std::function<RecordArray(const ObservablePlace& place)> measure;
};

/// Reads an observable from its table. \throws UsageError it is wrong; the message names file, line and remedy.
MeasureObservable read_observable(TableReader& table, const std::string& name, const Lattice& lattice);

/// Prefixes of files that [gauge_fixing] writes; empty: none.
struct FixingFiles {
  std::string links, transformation;
};
GaugeFixing read_gauge_fixing(TableReader& table, const std::filesystem::path& folder, FixingFiles& files);

}  // namespace quarksmith::runs
