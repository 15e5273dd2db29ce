/// \file
/// What correlators of RUN.toml are made of, by their keys.
#pragma once

#include "runs/measure_file.hpp"
#include "solvers/measure/correlators.hpp"

namespace quarksmith::runs {

/// A propagator by the name that a key gives. All of these: \throws UsageError file, line and remedy.
int propagator_named(TableReader& table, const char* key, const std::string& name, const MeasurePlan& plan);
/// A gamma (meson_names).
int gamma_named(TableReader& table, const char* key, const std::string& name);
/// `g5`, or `sink,source`.
GammaPair gamma_pair_named(TableReader& table, const char* key, const std::string& text);
/// The two propagators of `quarks`.
std::vector<int> read_meson_lines(TableReader& table, const MeasurePlan& plan);

/// Quark lines and their propagators.
struct BaryonLines {
  std::string letters;
  std::vector<int> nodes;
};
/// The table `quarks`.
BaryonLines read_baryon_lines(TableReader& table, const MeasurePlan& plan);
/// \throws UsageError there is no interpolator of a name, it has a line that is not there, or none has one that is.
void require_lines(TableReader& table, const char* key, const std::vector<std::string>& names,
                   const BaryonLines& lines);

/// A quark of which currents are conserved that join neighbouring sites: its hops are those of Wilson, alike in all
/// directions; with a fifth dimension those of Shamir's form.
bool has_conserved_current(const Action& action);

/// A row of the table of kinds: three-point functions, whose sequential propagator is added to the plan.
void read_three_point(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c);

}  // namespace quarksmith::runs
