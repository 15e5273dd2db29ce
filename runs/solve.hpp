/// \file
/// How a solve is made, and what is said of it.
#pragma once

#include <functional>
#include <span>

#include "runs/action.hpp"
#include "runs/near_null.hpp"
#include "runs/session.hpp"
#include "solvers/measure/far_slices.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::runs {

/// One line if the stored links miss those of the configuration.
void tell(const LinkDeviation& deviation, const SolveSettings& settings, Session& session);

/// One line for each kind of event, however many right-hand sides met it and however often.
/// \param title of a right-hand side, by its number among the reports.
void tell_events(std::span<const SolveReport> reports, const std::function<std::string(int)>& title, Session& session);

struct SolveDescription;

/// What a solve says that missed its tolerance: residual, remedy, and what is known of a mass below the critical one.
std::string failure_text(const SolveReport& report, const SolveSettings& settings, const Action& action,
                         const ChoiceNames& names);
/// Warns of a mass that is beyond the critical one where that is known: 0, on links of plaquette 1.
void warn_beyond_critical(const std::string& quark, const Action& action, double plaquette, Session& session);
/// Warns of time slices on which a propagator is lost in its error.
void warn_of_far_slices(const std::string& propagator, const Propagator& s, double residual,
                        const SolveDescription& how, Session& session);

/// What a solver that learns from one right-hand side for the next has saved.
struct Saving {
  std::string solver;
  int first, last;  ///< iterations of the first right-hand side, of the last
  int vectors;      ///< that the last began with
  int sources;      ///< right-hand sides
};
/// \param reports of right-hand sides in their order. \return none if they did not learn from each other.
std::optional<Saving> saving_of(std::span<const SolveReport> reports);
std::string saving_text(const Saving& saving);

/// Right-hand sides that are solved for together, at most so many: as many as the device's memory holds on every rank.
/// On the CPU solves of several are no faster (docs/performance.md): one at a time.
int columns_at_once(const Solver& solver, const Action& action, int most, Session& session);

/// The member of a number that methods need.
std::string member_of(const MethodNumber& number);

/// How a solve is made.
struct SolveDescription : Description {
  std::string solver, precision = "double", even_odd = "symmetric", reconstruct = "12", basis = "non_relativistic",
                      updates = "reliable", preconditioner = "none", multigrid;
  double tolerance = 1e-10, delta = 0;
  int max_iterations = 10000;
  MethodParameters parameters;
  NearNullDescription near_null;

  /// \param of the action that is solved for, which has the default of the method, and decides about the basis.
  explicit SolveDescription(const ActionDescription& of) : action(&of) {}
  void list(Members& members) override;
  /// \throws UsageError a name that does not exist, or numbers that do not go together.
  void check() override;
  /// The methods that are used, and the precisions: several of a benchmark.
  virtual std::vector<std::string> solvers() const;
  virtual std::vector<std::string> precisions() const { return {precision}; }
  /// Names of the method and the precision, for settings that `check` has found sound. Links that are not SU(3) are
  /// stored with 18 reals, unless another storage is given.
  /// \throws UsageError an even-odd form is given that the action does not have.
  SolveSettings settings(const HostGauge& gauge, const Action& chosen, Session& session) const;
  /// Choices of a solve in the words of its door.
  ChoiceNames choice_names() const;

  const ActionDescription* action;

  /// What ends a message about a member that belongs to some methods alone; empty if one of them is used.
  std::string unless_used(const std::vector<std::string>& methods) const;

 protected:
  virtual void list_method(Members::Adder add);
};

}  // namespace quarksmith::runs
