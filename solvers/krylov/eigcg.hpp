/// \file
/// Conjugate gradients that find eigenvectors while they solve, and begin the next solve with them.
#pragma once

#include "solvers/krylov/block_blas.hpp"
#include "solvers/krylov/cycles.hpp"

namespace quarksmith {

/// Incremental EigCG (A. Stathopoulos and K. Orginos, SIAM J. Sci. Comput. 32 (2010) 439, arXiv:0707.0131) on H = A^+
/// A, or on A where that is Hermitian and positive.
///
/// The residuals of conjugate gradients, scaled to unit length, are a basis V of the Krylov space in which H is the
/// tridiagonal T of the coefficients alpha and beta. When V has `search` vectors it is restarted from the Ritz vectors
/// of the `keep` least Ritz values of T and as many of T without its last row, orthonormalised; the iteration itself
/// continues undisturbed. The Ritz vectors at the end of a right-hand side, made orthogonal to all earlier ones, extend
/// a basis U, which gives later right-hand sides the guess U (U^+ H U)^-1 U^+ A^+ r. So the eigenvectors improve from
/// one right-hand side to the next, until there are `most_sources` times `keep`.
class EigenConjugateGradients final : public CycleSolver {
 public:
  static constexpr int most_sources = 24;
  EigenConjugateGradients(const OuterSolverSetting& setting, int search, int keep);

  int vectors() const override { return static_cast<int>(h_.rows()); }
  void forget() override;
  /// Keeps U, and recomputes U^+ H U with the new operators, so that guesses are still the best ones in U. Only vectors
  /// of the last `most_moving` right-hand sides are kept, since the next one brings newer ones.
  void operators_changed() override;
  static constexpr int most_moving = 4;
  /// Ritz values of H in U, ascending.
  Eigen::VectorXd ritz_values() const { return eigen_of(h_).values; }

 private:
  /// Vectors that one right-hand side has added to U.
  struct Part {
    SpinorField vectors;
    int first, count;
  };
  void correct(SpinorField& d, SpinorField& r, Courses group) override;
  void deflate(SpinorField& d, SpinorField& r, Course& course);
  double begin(const SpinorField& r, Course& course, bool fresh);
  void iterate(Course& course, double goal);
  double apply(Course& course);
  void collect();
  void set_coupling();
  void set_row(double diagonal);
  void restart();
  void learn(Course& course) override;
  void harvest(Course& course);
  bool is_full() const { return vectors() + keep_ > most_sources * keep_; }
  void extend(Part part, Course& course);
  void couple(const Part& part);

  bool hermitian_;
  int search_, keep_;
  Blas inner_blas_;
  BlockBlas outer_block_, block_;
  SpinorField y_, r_, z_, p_, q_;         // inner: correction; residuals of A and of H; direction, H p
  SpinorField w_, before_;                // inner: A p, other work; H p of the iteration before a restart
  SpinorField v_, rotated_;               // inner: V; work
  SpinorField s_, images_;                // outer: work
  std::vector<Part> u_;                   // outer
  Dense t_, h_;                           // V^+ H V; U^+ H U
  double zz_ = 0, alpha_ = 1, beta_ = 0;  // of the iteration: |z|^2, step, part of the last direction in the next
  int active_ = 0;                        // vectors of V
  bool collects_ = true, moving_ = false;
  bool restarted_ = false;  // the elements of T between V and its next vector are not there yet
};

}  // namespace quarksmith
