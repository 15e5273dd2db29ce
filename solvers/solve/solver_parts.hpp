/// \file
/// What stands behind a Solver; of solve.cpp and solver_parts.cpp alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>

#include "solvers/krylov/blas.hpp"
#include "solvers/solve/automatic.hpp"
#include "solvers/krylov/improver.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/actions/working_gauge.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace quarksmith {

struct Solver::Parts {
  Parts(const Action& action, WorkingGauge gauge, const DomainPointer& domain, const SolveSettings& settings);

  /// What a solver and its solves ask kernels for, on few sites.
  static void rehearse(const Action& action, const SolveSettings& settings, const Domain& domain, int colours);
  /// The operator for fields of a precision, with links as they are stored; made when first asked for.
  const DiracOperator& dirac(const PrecisionInfo& precision);
  /// That of true residuals: in double, with the links as they were given.
  const DiracOperator& exact() { return exact_ ? *exact_ : dirac(find_precision("double")); }
  /// |b - M x| of each right-hand side in double.
  std::vector<double> defects(const SpinorField& x, const SpinorField& b);
  const Blas& blas();
  void forget() {
    if (improver_) improver_->forget();
  }
  void prepare(int rhs);
  /// Method::automatic goes on with multigrid where that pays.
  std::vector<SolveReport> solve(SpinorField& x, const SpinorField& b);
  Multigrid* multigrid() const { return multigrid_.get(); }

  SolveSettings settings;  ///< with the method that is tried first
  bool falls_back;         ///< to CG on the normal equations
  Action action;
  Precisions precision;
  WorkingGauge working_gauge;
  DomainPointer domain;
  LinkStore links;
  LinkDeviation deviation;  ///< of stored links; if it is more than rounding, residuals have an operator of their own
  double seconds = 0, host_seconds = 0;
  bool learns = false;  ///< a precision that was raised stays

 private:
  /// One right-hand side of a system, and what became of it.
  struct Column {
    double tolerance;  ///< of the reduced residual
    double scale = 1;  ///< relative residual of the full system over that of the reduced one
    Method method;     ///< that works on it
    SolverResult result = {};
    double flops = 0, bytes_sent = 0;
    const PrecisionInfo* raised = nullptr;  ///< of iterations, where it was
  };
  /// Right-hand sides first, first + 1, ... of the system that is iterated on.
  struct System {
    SpinorField x, b;
    std::span<Column> columns;
    int first = 0;
    System part(int from, int count) {
      return {x.columns(from, count), b.columns(from, count), columns.subspan(from, count), first + from};
    }
  };
  using Chosen = std::function<bool(const Column&)>;

  void weigh();
  void take_multigrid(int iterations);
  void leave_multigrid(const std::string& why);
  std::vector<SolveReport> solve_weighed(SpinorField& x, const SpinorField& b);
  std::vector<SolveReport> solve_by_multigrid(SpinorField& x, const SpinorField& b);
  std::vector<SolveReport> solve_as_set(SpinorField& x, const SpinorField& b);
  void check_deflation();
  void make_operators();
  void make_multigrid(int rhs);
  /// The operator of residuals during a solve, and by how much the links in its precision that iterations use miss its.
  bool in_double() const { return precision.outer->name == "double"; }
  const DiracOperator& high() { return in_double() ? exact() : dirac(*precision.outer); }
  /// Whether the operator that is iterated with is, and positive.
  bool is_hermitian() const { return high_->even_odd() != nullptr && high_->even_odd()->hermitian(); }
  double low_deviation() const { return exact_ && in_double() ? deviation.typical : 0; }
  std::string links_used() const;
  void reserve(int rhs);
  KrylovBatch& batch(Method method);
  void iterate(System system, KrylovBatch& krylov, const LinearOperator& low_a);
  void iterate_chosen(System& system, const Chosen& chosen, KrylovBatch& krylov, const LinearOperator& low_a);
  bool failed(const Column& column) const;
  void fall_back(System& system);
  void raise_precision(System& system);
  std::string precision_text(const PrecisionInfo& inner) const;
  void learn(std::span<const Column> columns);
  void prepare(System& system, const SpinorField& full_b, const std::vector<double>& b_norm);
  void improve(System& system, int attempt);
  bool tighten(std::span<Column> columns, const std::vector<double>& residuals) const;
  std::vector<SolveReport> reports_of(std::span<const Column> columns, const std::vector<double>& residuals,
                                      double elapsed) const;

  std::map<const PrecisionInfo*, std::unique_ptr<DiracOperator>> operators_;
  std::unique_ptr<DiracOperator> exact_;       ///< null where that in double is exact
  std::unique_ptr<DiracOperator> part_alone_;  ///< of a Schwarz preconditioner
  std::unique_ptr<SystemOperator> high_, low_, preconditioner_;
  std::unique_ptr<Multigrid> multigrid_;
  std::optional<Weighing> weighing_;    ///< of Method::automatic, where multigrid could take its place
  int capacity_ = 0;                    ///< right-hand sides for which there is work space
  std::unique_ptr<KrylovBatch> batch_;  ///< of one method at a time, for their work space is the largest
  Method batch_method_ = Method::automatic;
  std::unique_ptr<Improver> improver_;  ///< runs before the batch, with methods that have one
  std::optional<SpinorField> reduced_x_, reduced_b_, outer_x_, outer_b_, residual_;
  std::optional<Blas> blas_;
};

}  // namespace quarksmith
