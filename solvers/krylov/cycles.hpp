/// \file
/// Deflating outer solvers that work in cycles.
#pragma once

#include <span>

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/converter.hpp"
#include "solvers/krylov/outer_solver.hpp"

namespace quarksmith {

/// The outer loop of such solvers, over groups of right-hand sides: a cycle in the inner precision makes a correction
/// for each, which is accepted if it reduces the true residual. Cycles continue as long as the worst residual halves.
class CycleSolver : public OuterSolver {
 public:
  std::vector<SolverResult> improve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                    const std::vector<double>& tolerances) override;
  double seconds() const override { return seconds_; }
  double host_seconds() const override { return host_seconds_; }
  /// Number of eigenvectors with which later right-hand sides begin.
  virtual int vectors() const { return 0; }

 protected:
  /// \param together right-hand sides of a group. \param squared whether cycles need A^+ r even with
  /// Criterion::residual.
  explicit CycleSolver(const OuterSolverSetting& setting, int together = 1, bool squared = false);

  /// A right-hand side under way.
  struct Course {
    int rhs;
    const SolverOptions& options;
    SolverResult& result;
    double tolerance;                  ///< of `measured`
    double b_norm = 0, b_measure = 0;  ///< |b|; |b| or |A^+ b|
    double r_norm = 0, s_norm = 0;     ///< r = b - A x; A^+ r if it is needed
    bool open = false;                 ///< whether it misses its tolerance
    bool first = true;                 ///< whether this is its first cycle

    /// Counts an iteration and reports it to the observers. \param norm |r| or |A^+ r| of the recurrence, by criterion.
    void count(double norm);
    bool at_limit() const { return result.iterations >= options.max_iterations; }
    bool normal() const { return options.criterion == Criterion::normal; }
    /// The |r|, or |A^+ r|, at which a cycle may end: a little below the tolerance.
    double target() const { return 0.95 * tolerance * b_measure; }
  };
  using Courses = std::span<Course>;
  /// d = A^-1 r, approximately, for the right-hand sides that are open, to their targets or the limit of the inner
  /// precision. \param d,r in the outer precision, one column each, with memory for BlockBlas::padded(1) at least; d
  /// holds A^+ r on entry, if that is needed.
  virtual void correct(SpinorField& d, SpinorField& r, Courses group) = 0;
  /// Keeps the eigenvectors that a right-hand side has found, for later ones.
  virtual void learn(Course& /*course*/) {}

  const LinearOperator *outer_, *inner_;
  double least_;  ///< least relative residual that a cycle aims at
  Blas blas_;
  Converter convert_;
  double seconds_ = 0, host_seconds_ = 0;

 private:
  std::vector<double> residuals(const SpinorField& x, const SpinorField& b, Courses group);
  bool judge(const std::vector<double>& residuals, Courses group);
  void solve(SpinorField x, const SpinorField& b, Courses group);
  bool cycle(SpinorField& x, const SpinorField& b, Courses group);

  int together_;
  bool squared_;
  SpinorField r_, d_;
};

}  // namespace quarksmith
