/// \file
/// Conjugate gradients with one Krylov space for all right-hand sides of a block.
#pragma once

#include "solvers/krylov/block_blas.hpp"
#include "solvers/krylov/cycles.hpp"
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
/// orthogonality. Directions that depend on the others are dropped: S then has fewer rows than columns, and the block
/// becomes narrower. Their part of the residual returns with the next true residual.
///
/// Iterations run in the precision of `inner` until every residual meets its target or the limit of that precision;
/// then X is corrected, the true residual recomputed with `outer`, and a new block begun with the columns that miss
/// their tolerance. The matrices of an iteration are factorised on the host, which waits for the device twice, and a
/// third time if orthogonalisation is repeated.
class BlockConjugateGradients final : public CycleSolver {
 public:
  /// Most right-hand sides of a block; more are solved in several blocks.
  static constexpr int most = 12;
  explicit BlockConjugateGradients(const OuterSolverSetting& setting);

  /// Fields of a right-hand side in the inner and the outer precision, without those of the operators.
  static std::pair<int, int> fields() { return {6, 2}; }
  double host_seconds() const override { return host_seconds_ + block_blas_.host_seconds(); }

 private:
  void correct(SpinorField& d, SpinorField& r, Courses group) override;
  void begin();
  void iterate();
  bool step();

  NormalOperator normal_;
  SpinorField x_, q_, p_, v_, w_;  // inner: correction, Q, P, H P, work
  BlockBlas block_blas_;
  Dense c_, s_matrix_, alpha_;
  std::vector<Course*> open_;  ///< right-hand sides of the block
  int width_ = 0;              ///< columns of Q and P
};

}  // namespace quarksmith
