/// \file
/// Improvers that work in cycles.
#pragma once

#include <span>

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/converter.hpp"
#include "solvers/krylov/outer_solver.hpp"

namespace quarksmith {

/// Their outer loop, over groups of right-hand sides: a cycle in the inner precision makes a correction of each, which
/// is taken if the true residual gets smaller by it. The next cycle begins as long as the worst residual halves.
class CycleSolver : public OuterSolver {
 public:
  std::vector<SolverResult> improve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                    const std::vector<double>& tolerances) override;
  double seconds() const override { return seconds_; }
  double host_seconds() const override { return host_seconds_; }
  /// Vectors that later right-hand sides begin with.
  virtual int vectors() const { return 0; }

 protected:
  /// \param together right-hand sides of a group. \param squared cycles need A^+ r, whatever the criterion is.
  explicit CycleSolver(const OuterSolverSetting& setting, int together = 1, bool squared = false);

  /// A right-hand side under way.
  struct Course {
    int rhs;
    const SolverOptions& options;
    SolverResult& result;
    double tolerance;                  ///< of `measured`
    double b_norm = 0, b_measure = 0;  ///< |b|; |b| or |A^+ b|
    double r_norm = 0, s_norm = 0;     ///< r = b - A x; A^+ r if it is needed
    bool open = false;                 ///< it misses its tolerance
    bool first = true;                 ///< its first cycle

    /// Counts an iteration with that residual of the recurrence, |r| or |A^+ r| as the criterion has it, and tells it.
    void count(double norm);
    bool at_limit() const { return result.iterations >= options.max_iterations; }
    bool normal() const { return options.criterion == Criterion::normal; }
    /// |r|, or |A^+ r|, with which a cycle may end, a little below the tolerance.
    double target() const { return 0.95 * tolerance * b_measure; }
  };
  using Courses = std::span<Course>;
  /// d = about A^-1 r of those that are open, by iterations until their targets or what the inner precision can
  /// represent. \param d, r of the outer precision, a column each, with memory for BlockBlas::padded(1) at least; d is
  /// A^+ r before, if that is needed.
  virtual void correct(SpinorField& d, SpinorField& r, Courses group) = 0;
  /// Keeps what a right-hand side has found.
  virtual void learn(Course& /*course*/) {}

  const LinearOperator *outer_, *inner_;
  double least_;  ///< relative residual that is asked of a cycle
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
