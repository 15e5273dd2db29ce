/// \file
/// A polynomial of an operator as smoother.
#pragma once

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/preconditioner.hpp"

namespace quarksmith {

/// The roots of the polynomial p with p(0) = 1 of this degree that makes |p(A) v| the least for noise v, GMRES's: the
/// harmonic Ritz values of the Krylov space of v (R. W. Freund, J. Comput. Appl. Math. 43 (1992) 135), in the order of
/// Leja, in which no product of some of them grows large (N. M. Nachtigal, L. Reichel and L. N. Trefethen, SIAM J.
/// Matrix Anal. Appl. 13 (1992) 796). Noise holds all modes alike, so that the low ones, few, count for little. \throws
/// Error A has a root near zero: it cannot be smoothed so.
std::vector<Complex64> smoothing_roots(const LinearOperator& a, const BasisInfo& basis, int degree);

/// out = s(A) in, 1 - z s(z) = (1 - z / theta_1) ... (1 - z / theta_n) with these roots: Richardson's iteration y +=
/// (in - A y) / theta_k from zero, n - 1 applications. Unlike MR it adds up no inner products.
class PolynomialSmoother final : public Preconditioner {
 public:
  /// \param a outlives this; fields are in its precision.
  PolynomialSmoother(const LinearOperator& a, std::vector<Complex64> roots, int rhs);
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override { return static_cast<int>(roots_.size()) - 1; }

 private:
  const LinearOperator* a_;
  std::vector<Complex64> roots_;
  Blas blas_;
  SpinorField product_;
};

}  // namespace quarksmith
