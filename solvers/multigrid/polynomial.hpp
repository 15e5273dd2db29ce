/// \file
/// A polynomial of an operator as smoother.
#pragma once

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/preconditioner.hpp"

namespace quarksmith {

/// The roots of the polynomial p of this degree with p(0) = 1 that minimises |p(A) v| for noise v, as in GMRES: the
/// harmonic Ritz values of the Krylov space of v (R. W. Freund, J. Comput. Appl. Math. 43 (1992) 135), in Leja order,
/// in which partial products do not grow large (N. M. Nachtigal, L. Reichel and L. N. Trefethen, SIAM J. Matrix Anal.
/// Appl. 13 (1992) 796). Noise contains all modes equally, so that the few low ones have little weight. \throws Error a
/// root is near zero, so that the polynomial is no smoother for A.
std::vector<Complex64> smoothing_roots(const LinearOperator& a, const BasisInfo& basis, int degree);

/// out = s(A) in, 1 - z s(z) = (1 - z / theta_1) ... (1 - z / theta_n) with these roots: Richardson's iteration y +=
/// (in - A y) / theta_k from zero, n - 1 applications. Unlike MR it needs no inner products.
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
