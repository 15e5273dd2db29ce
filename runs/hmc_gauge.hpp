/// \file
/// Gauge actions of `quarksmith hmc`, from their tables in RUN.toml.
#pragma once

#include "runs/table_reader.hpp"
#include "solvers/hmc/monomial.hpp"

namespace quarksmith::runs {

/// Reads the table of a gauge action. \throws UsageError it is wrong; the message names file, line and remedy.
GaugeLoops read_gauge_action(TableReader& table);

}  // namespace quarksmith::runs
