/// \file
/// Gauge actions of `quarksmith hmc`, from their tables in RUN.toml.
#pragma once

#include "apps/toml_file.hpp"
#include "solvers/hmc/monomial.hpp"

namespace quarksmith::apps {

/// \throws UsageError the table is no gauge action: the message names file, line and remedy.
GaugeLoops read_gauge_action(TomlReader& table);

}  // namespace quarksmith::apps
