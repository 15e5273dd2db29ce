/// \file
/// Options of the commands that solve: how a solve is made.
#pragma once

#include <functional>
#include <span>

#include "apps/options.hpp"
#include "solvers/krylov/solve.hpp"

namespace quarksmith::apps {

/// The choices of a solve by the names of their options.
inline const ChoiceNames option_names = {"a larger --max-iterations", "--solver cg", "--precision double",
                                         "a larger --tol"};

/// One line if the stored links miss those of the configuration.
void tell(const LinkDeviation& deviation, const SolveSettings& settings, const CommonOptions& common);

/// One line for each kind of event, however many right-hand sides met it and however often.
/// \param title of a right-hand side, by its number among the reports.
void tell_events(std::span<const SolveReport> reports, const std::function<std::string(int)>& title,
                 const CommonOptions& common);

/// How a solve is made, but for method and precision.
struct SolverChoices {
  std::string even_odd = "symmetric", reconstruct = "12", basis = "non_relativistic", updates = "reliable",
              preconditioner = "none", multigrid;
  double tolerance = 1e-10, delta = 0;
  int max_iterations = 10000;
  MethodParameters parameters;

  void add_to(CLI::App& command);
  /// \throws UsageError a name that does not exist, or a number out of its range.
  void check() const;
  /// Links that are not SU(3) are stored with 18 reals, unless the command line says otherwise.
  /// \throws UsageError an even-odd form is asked for that the action does not have.
  SolveSettings settings(const CLI::App& command, const HostGauge& gauge, const Action& action,
                         const CommonOptions& common) const;
};

}  // namespace quarksmith::apps
