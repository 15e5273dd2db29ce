/// \file
/// The propagator command for quarks of one colour vector a site.
#pragma once

#include "apps/action_options.hpp"
#include "apps/solver_options.hpp"

namespace quarksmith::apps {

/// What the propagator command was asked for.
struct StaggeredRun {
  const CLI::App& command;
  const CommonOptions& common;
  const ActionOptions& action;
  const SolverChoices& choices;
  std::string source, precision;
  std::filesystem::path correlators, out;
};
/// Solves for three columns and all masses; writes them and the correlators of the Goldstone pion of each pair of
/// masses. \throws Error a solve did not converge.
int run_staggered(const StaggeredRun& run);

}  // namespace quarksmith::apps
