/// \file
/// What `quarksmith propagator` is told, and what follows from it before a solve.
#pragma once

#include "apps/action_options.hpp"
#include "apps/contraction.hpp"
#include "apps/eigen_options.hpp"
#include "apps/solver_options.hpp"

namespace quarksmith::apps {

struct PropagatorOptions {
  CommonOptions common;
  ActionOptions action;
  SolverChoices choices;
  DeflationOption deflate;
  std::string source = "point:0,0,0,0", sink = "point", smear_links, solver, precision = "double", time_limit;
  int batch = 0;
  std::filesystem::path out, correlators;
};

SolveSettings propagator_settings(const PropagatorOptions& o, const CLI::App& command, const HostGauge& gauge,
                                  const ActionChoice& choice);

/// What of the run decides the columns, and what else is worth to know of them. The sink does not touch them.
PropagatorHeader propagator_header(const PropagatorOptions& o, const NamedGauge& named, const ActionChoice& choice,
                                   const SolveSettings& settings, double plaquette);

}  // namespace quarksmith::apps
