/// \file
/// Staggered actions in commands: their options, and the propagator command for them.
#pragma once

#include "apps/wilson_options.hpp"
#include "solvers/actions/staggered.hpp"

namespace quarksmith::apps {

/// `staggered`, `asqtad` or `hisq`.
bool is_staggered(const std::string& action);

/// Long links, products of links, are stored with 13 reals unless the command line says otherwise.
void choose_storage(SolveSettings& settings, const Action& action, const CLI::App& command);

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
