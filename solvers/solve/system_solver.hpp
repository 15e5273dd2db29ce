/// \file
/// Krylov methods for the system on which a solve iterates, and fallbacks where they fail.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "solvers/krylov/batch.hpp"
#include "solvers/krylov/outer_solver.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/solve/operator_levels.hpp"

namespace quarksmith {

/// Settings of solves, some of which change in the course of solves.
struct SolveCourse {
  SolveSettings settings;  ///< with the method that is tried first
  bool falls_back;         ///< whether to fall back to CG on the normal equations
};

/// A right-hand side of a system, and the state of its solve.
struct SystemColumn {
  double tolerance;  ///< for the residual of the even-odd form
  double scale = 1;  ///< relative residual of the full system over that of the even-odd form
  Method method;     ///< method for this right-hand side
  SolverResult result = {};
  double flops = 0, bytes_sent = 0;
  const PrecisionInfo* raised = nullptr;  ///< precision of iterations, if it was raised
};

/// Right-hand sides first, first + 1, ... of the system that is iterated on: on even sites, or on all.
struct IteratedSystem {
  SpinorField x, b;
  std::span<SystemColumn> columns;
  int first = 0;
  IteratedSystem part(int from, int count) const {
    return {x.columns(from, count), b.columns(from, count), columns.subspan(from, count), first + from};
  }
};

/// Iterates on a system in the precisions of a solve with the method of a course. Right-hand sides that it gives up
/// continue with CG on the normal equations, if the course allows it, then in higher precisions.
class SystemSolver {
 public:
  /// \param levels,course outlive this.
  SystemSolver(OperatorLevels& levels, const SolveCourse& course) : levels_(levels), course_(course) {}

  /// Replaces the work space by one for `rhs` right-hand sides.
  void reserve(int rhs);
  /// The operator in the precision of residuals.
  const SystemOperator& high() const { return *high_; }
  /// Whether the operator of the iterations is Hermitian and positive.
  bool is_hermitian() const { return high_->even_odd() != nullptr && high_->even_odd()->hermitian(); }
  /// Iterates with each right-hand side's own method, and falls back where one fails.
  /// \param attempt number of attempts before this one.
  void solve(IteratedSystem& system, int attempt);
  /// Discards what earlier right-hand sides have found.
  void forget() {
    if (outer_solver_) outer_solver_->forget();
  }
  /// Multigrid once it is set up; null: there is none.
  Multigrid* multigrid() const { return multigrid_.get(); }
  void drop_multigrid() {
    batch_.reset();
    multigrid_.reset();
  }
  /// Seconds of all iterations so far, and the part of them in which the host was busy.
  double seconds() const { return seconds_; }
  double host_seconds() const { return host_seconds_; }

 private:
  using Chosen = std::function<bool(const SystemColumn&)>;

  const SolveSettings& settings() const { return course_.settings; }
  const Precisions& precision() const { return levels_.precision; }
  /// Parameters of the method, with multigrid as preconditioner once it is set up.
  MethodParameters parameters() const;
  void make_multigrid(int rhs);
  KrylovBatch& batch(Method method);
  void iterate(IteratedSystem system, KrylovBatch& krylov, const LinearOperator& low_a);
  void iterate_chosen(IteratedSystem& system, const Chosen& chosen, KrylovBatch& krylov, const LinearOperator& low_a);
  bool failed(const SystemColumn& column) const;
  void fall_back(IteratedSystem& system);
  void raise_precision(IteratedSystem& system);

  OperatorLevels& levels_;
  const SolveCourse& course_;
  std::unique_ptr<DiracOperator> part_alone_;  ///< operator of the local lattice, for a Schwarz preconditioner
  std::unique_ptr<SystemOperator> high_, low_, preconditioner_;
  std::unique_ptr<Multigrid> multigrid_;
  int capacity_ = 0;                    ///< right-hand sides for which there is work space
  std::unique_ptr<KrylovBatch> batch_;  ///< for one method at a time, as work space is large
  Method batch_method_ = Method::automatic;
  std::unique_ptr<OuterSolver> outer_solver_;  ///< runs before the batch, with methods that have one
  double seconds_ = 0, host_seconds_ = 0;
};

}  // namespace quarksmith
