/// \file
/// Options of the commands that solve: how a solve is made.
#pragma once

#include <functional>
#include <span>

#include "apps/near_null_options.hpp"
#include "apps/options.hpp"
#include "solvers/solve/solve.hpp"

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

/// What a solver that learns from one right-hand side for the next has saved.
struct Saving {
  std::string solver;
  int first, last;  ///< iterations of the first right-hand side, of the last
  int vectors;      ///< that the last began with
  int sources;      ///< right-hand sides
};
/// \param reports of right-hand sides in their order. \return none if they did not learn from each other.
std::optional<Saving> saving_of(std::span<const SolveReport> reports);
std::string text_of(const Saving& saving);
nlohmann::ordered_json json_of(const Saving& saving);

/// Right-hand sides that are solved for together, at most so many: as many as the device's memory holds on every rank.
/// On the CPU solves of several are no faster (docs/performance.md): one at a time.
int columns_at_once(const Solver& solver, const Action& action, int most, const CommonOptions& common);

/// Adds --solver, empty for that of the action, and --precision.
void add_method(CLI::App& command, std::string& solver, std::string& precision);

/// How a solve is made, but for method and precision.
struct SolverChoices {
  std::string even_odd = "symmetric", reconstruct = "12", basis = "non_relativistic", updates = "reliable",
              preconditioner = "none", multigrid;
  double tolerance = 1e-10, delta = 0;
  int max_iterations = 10000;
  MethodParameters parameters;
  NearNullOptions near_null;

  void add_to(CLI::App& command);
  /// \throws UsageError a name that does not exist, or a number out of its range.
  /// \param solvers that were asked for.
  void check(const std::vector<std::string>& solvers) const;
  /// Which of these were asked for by name.
  struct Stated {
    bool even_odd = false, reconstruct = false;
  };
  /// Links that are not SU(3) are stored with 18 reals, unless another storage is stated.
  /// \throws UsageError an even-odd form is stated that the action does not have.
  SolveSettings settings(Stated stated, const HostGauge& gauge, const Action& action,
                         const CommonOptions& common) const;
  SolveSettings settings(const CLI::App& command, const HostGauge& gauge, const Action& action,
                         const CommonOptions& common) const {
    return settings({command.count("--even-odd") > 0, command.count("--reconstruct") > 0}, gauge, action, common);
  }
};

}  // namespace quarksmith::apps
