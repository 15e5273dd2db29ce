/// \file
/// Options of solves, and messages about them.
#pragma once

#include <functional>
#include <span>

#include "runs/action.hpp"
#include "runs/near_null.hpp"
#include "runs/session.hpp"
#include "solvers/measure/far_slices.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::runs {

/// Reports in one line if stored links deviate from those of the configuration.
void tell(const LinkDeviation& deviation, const SolveSettings& settings, Session& session);

/// Reports events, one line for each kind with all right-hand sides that met it.
/// \param title name of a right-hand side, by its index in `reports`.
void tell_events(std::span<const SolveReport> reports, const std::function<std::string(int)>& title, Session& session);

struct SolveDescription;

/// The message of a solve that missed its tolerance: residual, remedy, and a hint if the mass is below the critical
/// one.
std::string failure_text(const SolveReport& report, const SolveSettings& settings, const Action& action,
                         const ChoiceNames& names);
/// Warns of a mass below the critical one where that is known: it is 0 on links of plaquette 1.
void warn_beyond_critical(const std::string& quark, const Action& action, double plaquette, Session& session);
/// Warns of time slices on which a propagator is smaller than its error.
/// \return the time slices from its source up to which it is known: half the extent if there is nothing to warn of.
int warn_of_far_slices(const std::string& propagator, const Propagator& s, double residual, const SolveDescription& how,
                       Session& session);

/// Iterations that a solver has saved by learning from one right-hand side for the next.
struct Saving {
  std::string solver;
  int first, last;  ///< iterations of the first right-hand side, of the last
  int vectors;      ///< eigenvectors with which the last one began
  int sources;      ///< right-hand sides
};
/// \param reports of right-hand sides in their order. \return none if they did not learn from each other.
std::optional<Saving> saving_of(std::span<const SolveReport> reports);
std::string saving_text(const Saving& saving);

/// Number of right-hand sides to solve for together, at most `most`: as many as fit the device memory of every rank;
/// one on the CPU, where solves of several are not faster (docs/performance.md).
int columns_at_once(const Solver& solver, const Action& action, int most, Session& session);

/// The name of the member for an option of methods.
std::string member_of(const MethodNumber& number);

/// Options of a solve.
struct SolveDescription : Description {
  std::string solver, precision = "double", even_odd = "symmetric", reconstruct = "12", basis = "non_relativistic",
                      updates = "reliable", preconditioner = "none", multigrid;
  double tolerance = 1e-10, slice_tolerance = 0, delta = 0;
  int max_iterations = 10000;
  MethodParameters parameters;
  NearNullDescription near_null;

  /// \param of the action to solve for, which decides about the default method and the basis.
  explicit SolveDescription(const ActionDescription& of) : action(&of) {}
  void list(Members& members) override;
  /// \throws UsageError a name is unknown, or numbers contradict each other.
  void check() override;
  /// Methods and precisions to use; several only in a benchmark.
  virtual std::vector<std::string> solvers() const;
  virtual std::vector<std::string> precisions() const { return {precision}; }
  /// Settings of the solve, after `check`. Links that are not SU(3) are stored with 18 reals, unless another storage is
  /// given. \throws UsageError an even-odd form is given that the action does not have.
  SolveSettings settings(const GaugeLinks& gauge, const Action& chosen, Session& session) const;
  /// Names of the options of a solve in messages of its door.
  ChoiceNames choice_names() const;

  const ActionDescription* action;

  /// Empty if one of these methods is used, else the end of a message about a member that belongs to them.
  std::string unless_used(const std::vector<std::string>& methods) const;

 protected:
  /// What solves for sources alone have: method, precision, and a criterion by time slice.
  virtual void list_method(Members::Adder add);
};

}  // namespace quarksmith::runs
