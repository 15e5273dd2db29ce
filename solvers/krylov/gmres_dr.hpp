/// \file
/// GMRES that keeps approximate eigenvectors at restarts, and projects later right-hand sides on them.
#pragma once

#include "solvers/krylov/block_blas.hpp"
#include "solvers/krylov/cycles.hpp"

namespace quarksmith {

/// GMRES-DR(m, k) (R. B. Morgan, SIAM J. Sci. Comput. 24 (2002) 20) for the first right-hand side, GMRES(m-k)-Proj(k)
/// (R. B. Morgan and W. Wilcox, arXiv:0707.0505) for the others.
///
/// A cycle ends with A V_m = V_{m+1} H, H of (m + 1) x m elements, and the least residual r = V_{m+1} (c - H d) of
/// V_m. The next cycle begins with the harmonic Ritz vectors of the k smallest values and r: these k + 1 vectors
/// satisfy A V_k = V_{k+1} H, so that GMRES continues from them. Later right-hand sides use the last V_k and H of the
/// first one: between cycles of plain GMRES they minimise the residual over that space, which takes no application of
/// A.
class DeflatedGmres final : public CycleSolver {
 public:
  DeflatedGmres(const OuterSolverSetting& setting, int search, int keep);

  int vectors() const override { return static_cast<int>(kept_h_.cols()); }
  void forget() override { kept_h_.resize(0, 0); }
  /// Harmonic Ritz values of the vectors that are kept, ascending in modulus.
  Eigen::VectorXcd harmonic_values() const;

 private:
  void correct(SpinorField& d, SpinorField& r, Courses group) override;
  void project();
  void begin(const Eigen::MatrixXcd& h, const Eigen::VectorXcd& c);
  void cycle(Course& course, int columns, double goal);
  double extend(Course& course);
  double orthogonalise(int count, Eigen::Ref<Eigen::VectorXcd> coefficients);
  double finish();
  bool restart();
  void combine(SpinorField& v, const Eigen::VectorXcd& c, SpinorField& sum);

  int search_, keep_;
  Blas inner_blas_;
  BlockBlas block_;
  SpinorField y_, r_, w_;              // inner: correction, residual, work
  SpinorField v_, rotated_;            // inner: V; work
  SpinorField kept_;                   // inner: the last V_{k+1} of the first right-hand side
  Eigen::MatrixXcd h_;                 // H
  Eigen::VectorXcd c_;                 // V^+ r at the beginning of a cycle, then at its end
  Eigen::MatrixXcd turns_, triangle_;  // unitary Q and R of Q H = R
  Eigen::VectorXcd turned_;            // Q c
  Eigen::MatrixXcd kept_h_;            // H of kept_
  int active_ = 0;                     // columns of H
};

}  // namespace quarksmith
