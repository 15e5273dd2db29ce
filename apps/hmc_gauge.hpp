/// \file
/// Gauge actions of `quarksmith hmc`, from their tables in RUN.toml.
#pragma once

#include <optional>
#include <string>

#include "apps/toml_file.hpp"
#include "solvers/hmc/monomial.hpp"

namespace quarksmith::apps {

/// A number of a table. \throws UsageError it is missing, without a fallback, or not positive.
double positive(TomlReader& table, const std::string& key, std::optional<double> fallback = {});

/// \throws UsageError the table is no gauge action: the message names file, line and remedy.
GaugeLoops read_gauge_action(TomlReader& table);

}  // namespace quarksmith::apps
