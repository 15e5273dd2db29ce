/// \file
/// Right-hand sides one after another, by cycles that leave something for the next ones.
#pragma once

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/converter.hpp"
#include "solvers/krylov/improver.hpp"

namespace quarksmith {

/// The outer loop of methods that learn from each right-hand side: a cycle in the inner precision makes a correction,
/// which is taken if the true residual gets smaller by it.
class CycleSolver : public Improver {
 public:
  std::vector<SolverResult> improve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                    const std::vector<double>& tolerances) override;
  double seconds() const override { return seconds_; }
  double host_seconds() const override { return host_seconds_; }
  /// Vectors that later right-hand sides begin with.
  virtual int vectors() const = 0;

 protected:
  explicit CycleSolver(const ImproverSetting& setting);

  /// A right-hand side under way.
  struct Course {
    int rhs;
    const SolverOptions& options;
    SolverResult& result;
    double tolerance;                  ///< of `measured`
    double b_norm = 0, b_measure = 0;  ///< |b|; |b| or |A^+ b|
    double r_norm = 0;                 ///< |b - A x|
    bool first = true;                 ///< its first cycle

    /// Counts an iteration with that residual of the recurrence, |r| or |A^+ r| as the criterion has it, and tells it.
    void count(double norm);
    bool at_limit() const { return result.iterations >= options.max_iterations; }
    bool normal() const { return options.criterion == Criterion::normal; }
    /// |r|, or |A^+ r|, with which a cycle may end, a little below the tolerance.
    double target() const { return 0.95 * tolerance * b_measure; }
  };
  /// d = about A^-1 r by iterations until `course.target()` or what the inner precision can represent.
  /// \param d, r of the outer precision, with memory for BlockBlas::padded(1) columns, of which the first counts.
  virtual void correct(SpinorField& d, SpinorField& r, Course& course) = 0;
  /// Keeps what a right-hand side has found.
  virtual void learn(Course& /*course*/) {}

  const LinearOperator *outer_, *inner_;
  double least_;  ///< relative residual that is asked of a cycle
  Blas blas_, inner_blas_;
  Converter convert_;
  double seconds_ = 0, host_seconds_ = 0;

 private:
  bool measure(const SpinorField& x, const SpinorField& b, Course& course);
  void solve(SpinorField x, const SpinorField& b, Course& course);
  bool cycle(SpinorField& x, const SpinorField& b, Course& course);

  SpinorField r_, d_, x_;
};

}  // namespace quarksmith
