/// \file
/// Conjugate gradients with one Krylov space for all right-hand sides of a block.
#pragma once

#include "solvers/krylov/batch.hpp"
#include "solvers/krylov/converter.hpp"
#include "solvers/krylov/block_blas.hpp"
#include "solvers/krylov/improver.hpp"
#include "solvers/krylov/normal.hpp"

namespace quarksmith {

/// Improves X in A X = B by block conjugate gradients on the normal equations.
///
/// D. P. O'Leary, Linear Algebra Appl. 29 (1980) 293, in the form BCGrQ of A. A. Dubrulle, Electron. Trans. Numer.
/// Anal. 12 (2001) 216 (algorithm 5 of S. Birk and A. Frommer, Numer. Algorithms 67 (2014) 507, without shifts): with H
/// = A^+ A and A^+ R = Q C, Q^+ Q = 1,
///
///     alpha = (P^+ H P)^-1;  X += P alpha C;  Q' S = Q - H P alpha;  C' = S C;  P' = Q' + P S^+.
///
/// Q' and S come from the Gram matrix by Cholesky factorisation with pivoting, done again where that loses
/// orthogonality. Directions that depend on the others are left out: S has fewer rows than columns then, and the block
/// is narrower from there on. What they have of the residual comes back with the next true one.
///
/// Iterations run in the precision of `inner` until every residual met its target or what that precision can represent;
/// then X is corrected, the true residual recomputed with `outer`, and a new block of the columns that miss their
/// tolerance begun. The matrices of an iteration are factorised on the host, which waits for the device twice, and once
/// more for the update of Q where it hands over the last one.
class BlockConjugateGradients final : public Improver {
 public:
  /// Right-hand sides of one block at most; more are taken in several.
  static constexpr int most = 12;
  /// \param outer,inner A twice, or in two precisions; they outlive this.
  /// \param rhs right-hand sides that are expected.
  /// \param deviation of the links of `inner` from those of `outer`, relative; 0: they are the same.
  BlockConjugateGradients(const LinearOperator& outer, const LinearOperator& inner, int rhs, double deviation = 0);

  std::vector<SolverResult> improve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                    const std::vector<double>& tolerances) override;
  /// Fields that a right-hand side needs in the inner and the outer precision, those of the operators left out.
  static std::pair<int, int> fields() { return {6, 2}; }
  double seconds() const override { return seconds_; }
  double host_seconds() const override { return host_seconds_ + block_blas_.host_seconds(); }

 private:
  struct Columns;
  void improve_block(Columns& all);
  bool measure(Columns& all);
  void correct(Columns& all);
  bool begin(Columns& all);
  int iterate(Columns& all);
  bool step();

  const LinearOperator* outer_;
  NormalOperator normal_;
  int capacity_;
  double least_;  ///< relative residual that is asked of a block
  Blas blas_;
  SpinorField x_, q_, p_, v_, w_;  // inner: correction, Q, P, H P, work
  SpinorField r_, s_;              // outer: residuals; A^+ r, then corrections
  BlockBlas block_blas_;
  Converter convert_;
  Dense c_, s_matrix_, alpha_;
  int width_ = 0;  ///< columns of Q and P
  double seconds_ = 0, host_seconds_ = 0;
};

}  // namespace quarksmith
