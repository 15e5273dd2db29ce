/// \file
/// Conjugate gradients for many shifts at the cost of one Krylov space.
#pragma once

#include <optional>
#include <utility>

#include "solvers/krylov/batch.hpp"
#include "solvers/krylov/converter.hpp"
#include "solvers/krylov/normal.hpp"

namespace quarksmith {

/// Result for one shift; `iterations` counts those of the common space and the shift's own.
struct ShiftResult : SolverResult {
  int shared_iterations = 0;  ///< in the common Krylov space, until it was frozen
};

/// Solves (A^+ A + sigma_k) x_k = b for all sigma_k >= 0; or (A + sigma_k) x_k = b for a Hermitian positive A.
///
/// B. Jegerlehner, hep-lat/9612014; A. Frommer, B. Noeckel, S. Guesken, Th. Lippert and K.
/// Schilling, Int. J. Mod. Phys. C 6 (1995) 627. Krylov spaces do not depend on shifts: residuals are multiples r_k =
/// zeta_k r of that of the smallest shift. With the ratio rho_k = zeta'_k / zeta_k of successive factors,
///
///     1 / rho'_k = 1 + alpha s_k + alpha beta_old / alpha_old (1 - rho_k),  alpha_k = rho'_k alpha,  beta_k = rho'_k^2
///     beta,
///
/// where s_k is the shift above the smallest; no number of this form can vanish or overflow. An iteration applies A and
/// A^+ once to the direction of the smallest shift, which converges last; one kernel updates all x_k and p_k, and skips
/// those that have reached their tolerance. Iterations run in the precision of `inner` down to the least residual that
/// it can represent; then shifts whose true residual in the precision of `outer` misses the tolerance continue in
/// batches by separate conjugate gradients with reliable updates (solvers/krylov/batch.hpp). One right-hand side at a
/// time.
class MultishiftSolver {
 public:
  /// Whether the shifted operator is A^+ A (normal), or A itself (hermitian).
  enum class Form { normal, hermitian };
  /// \param outer,inner A twice, or in two precisions; both must outlive this.
  /// \param shifts largest number of shifts.
  MultishiftSolver(const LinearOperator& outer, const LinearOperator& inner, int shifts, Form form = Form::normal);

  /// \param x as many right-hand sides as shifts, overwritten; in the order of the shifts. If a shift fails its x is
  /// the best iterate. \param shifts sigma_k; consecutive ones are refined together, so they should be sorted. \param
  /// options max_iterations limits the common space, and separately the refinement. \param tolerances |b - (A^+ A +
  /// sigma_k) x_k| / |b|, of each shift. \throws UsageError a negative shift, or sizes that differ.
  std::vector<ShiftResult> solve(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
                                 const std::vector<double>& tolerances, const SolverOptions& options);
  /// All shifts go on until the smallest has converged, which alone has a target then.
  void go_together() { together_ = true; }
  int capacity() const { return capacity_; }
  /// The smallest and the largest Ritz value of A^+ A in the common space of the last solve: up to rounding errors they
  /// are within the spectrum. None if there was no iteration.
  std::optional<std::pair<double, double>> ritz_values() const;
  /// See KrylovBatch::operators_changed.
  void operators_changed() { refinement_.operators_changed(); }
  /// Seconds of all iterations so far, and the part of them in which the host was busy.
  double seconds() const { return seconds_ + refinement_.seconds(); }
  double host_seconds() const { return host_seconds_ + refinement_.host_seconds(); }
  /// Shifts that are refined together.
  static constexpr int most_refined = 8;

 private:
  void start(const SpinorField& b, double b_norm, const std::vector<double>& shifts,
             const std::vector<double>& tolerances, int limit);
  void iterate(int shifts);
  void run(int shifts, const SolverOptions& options);
  void complete(SpinorField& x);
  void refine(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
              const std::vector<double>& tolerances, const SolverOptions& options);

  int capacity_;
  std::unique_ptr<const NormalOperator> normal_outer_, normal_inner_;  // null in the Hermitian form
  const LinearOperator &outer_, &inner_;
  bool uniform_, together_ = false;
  Scalars scalars_;  // set s belongs to shift order_[s]; set 0 has the recurrence of the smallest shift
  SpinorField x_, p_, r_, q_;
  SpinorField b_;  // outer: copies of the right-hand side
  Step measure_, direction_, curvature_, residual_, coefficients_, advance_;
  KrylovBatch refinement_;
  Converter convert_;
  std::vector<int> order_;  // shifts from the smallest up
  std::vector<ShiftResult> results_;
  std::vector<double> alpha_, beta_;  // of the common space
  double seconds_ = 0, host_seconds_ = 0;
};

}  // namespace quarksmith
