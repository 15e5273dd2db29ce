/// \file
/// Solves for several right-hand sides at once, in two precisions, by any recurrence.
#pragma once

#include <map>

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/preconditioner.hpp"

namespace quarksmith {

/// A recurrence in the precision of `inner` that solves A x = b in the precision of `outer`.
///
/// An iteration is one recorded program of the device. The scalars of all right-hand sides are copied to the host after
/// each, and the host reads those of an iteration while later ones are under way. When a right-hand side has come to
/// rest its residual is replaced: the correction is added to x, b - A x computed with `outer`, and the recurrence
/// continues from there until the true residual meets the tolerance. Results do not depend on when the host reads the
/// scalars, nor on the other right-hand sides, up to the rounding of kernels for several right-hand sides. Right-hand
/// sides that are done leave the batch, and the last ones take their places.
class KrylovBatch {
 public:
  /// \param outer,inner the same operator twice, or in two precisions; both must outlive this.
  /// \param capacity right-hand sides at most.
  /// \param preconditioner the operator in the precision of the preconditioner; null: that of `inner`.
  /// \param deviation of the links of `inner` from those of `outer`, relative; 0: they are the same.
  KrylovBatch(const LinearOperator& outer, const LinearOperator& inner, Method method, int capacity,
              const MethodParameters& parameters = {}, const LinearOperator* preconditioner = nullptr,
              double deviation = 0);
  ~KrylovBatch();

  /// Solves A x = b; x is the first guess.
  /// \param tolerances of each right-hand side.
  /// \param shifts with Method::hermitian_cg: sigma of each right-hand side, none if they are all 0.
  /// \param limits most iterations of each right-hand side; none: those of the options.
  std::vector<SolverResult> solve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                  const std::vector<double>& tolerances, const std::vector<double>& shifts = {},
                                  const std::vector<int>& limits = {});
  int capacity() const { return capacity_; }
  /// If true, a right-hand side whose recurrence breaks down, diverges or stagnates is given up at once, for another
  /// method to continue; otherwise it is restarted a few times.
  void hand_over(bool on) { hand_over_ = on; }
  /// If true, a right-hand side that makes no progress, or whose true residual stagnates, is given up at once, for a
  /// higher precision to continue, which reports it.
  void raised_when_lost(bool on) { raised_ = on; }
  /// To be called when the links of the operators have changed: discards the recorded programs.
  void operators_changed() { programs_.clear(); }

  /// Seconds of all iterations so far, and the part of them in which the host was busy.
  double seconds() const { return seconds_; }
  double host_seconds() const { return host_seconds_; }
  /// Fields of a right-hand side in the outer precision, in addition to those of the recurrence and the operators.
  static constexpr int outer_fields = 2;

 private:
  struct Column;
  struct Run;
  struct Task;
  Task task_of(SpinorField& x, const SpinorField& b, const SolverOptions& options,
               const std::vector<double>& tolerances, const std::vector<int>& limits);
  void begin(Task& task);
  void iterate(Task& task, int& phase);
  void replace_residuals(Task& task, const std::vector<int>& positions);
  void replace_residuals(Task& task, const Run& run);
  bool accept(Task& task, const Run& run, SpinorField& x, SpinorField& r, std::vector<double>& r_norms);
  void judge(Task& task, Column& column, double r, double s) const;
  void arm(const Task& task, int position);
  void compact(Task& task);
  bool observe(Task& task);
  static int live(const Task& task);
  bool near_rest(const Task& task) const;
  Program& program(int width, int phase);
  void apply_outer(SpinorField& out, const SpinorField& in, int first) const;

  const LinearOperator *outer_, *inner_;
  int capacity_;
  double error_;  ///< relative, of `inner`
  bool uniform_;  ///< `inner` has the precision and the links of `outer`
  Blas blas_;
  Scalars scalars_;
  std::unique_ptr<Recurrence> recurrence_;
  std::unique_ptr<Step> shift_;        // Method::hermitian_cg: y += sigma x in the outer precision
  SpinorField r_, d_;                  // outer: residuals; corrections, then A^+ r
  Converter convert_, take_;           // residuals to the recurrence, corrections from it
  std::unique_ptr<SpinorField> best_;  // made when an iterate is worse than an earlier one
  std::unique_ptr<Snapshots> snapshots_;
  std::map<std::pair<int, int>, std::unique_ptr<Program>> programs_;  // of an iteration, by width and phase
  bool under_way_ = false, hand_over_ = false, raised_ = false;
  double seconds_ = 0, host_seconds_ = 0;
};

}  // namespace quarksmith
