/// \file
/// Generalised conjugate residuals.
#pragma once

#include "solvers/krylov/preconditioner.hpp"

namespace quarksmith {

/// A y = r by GCR(m), preconditioned by anything.
///
/// S. C. Eisenstat, H. C. Elman and M. H. Schultz, SIAM J. Numer. Anal. 20 (1983) 345, in the form of Y. Saad,
/// Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 6.21: direction p_j = K r, its image q_j = A p_j
/// made orthogonal to those of the cycle, which begins anew after m of them; y += alpha p_j with alpha = (q_j, r) /
/// (q_j, q_j). K may change from step to step, for p_j is kept (flexible; M. Luescher, Comput. Phys. Commun. 156 (2004)
/// 209). The images are projected in groups of four, those of a group by the classical Gram-Schmidt process,
/// one group after another.
///
/// All right-hand sides of a batch are at the same step of a cycle. One whose residual is replaced meanwhile goes on
/// with the directions that it has, one that starts anew has none of that cycle yet: in mixed precision its iterations
/// depend on where in the cycle the others are, its result does not but within the tolerance.
///
/// An iteration applies A and K once and reads or writes ten fields besides, and 17 for each group.
class GeneralisedConjugateResiduals final : public Recurrence {
 public:
  /// \param a outlives this, as the scalars do.
  /// \param m directions of a cycle, 1 ... MethodParameters::most_directions
  /// \param preconditioner may be null.
  GeneralisedConjugateResiduals(const LinearOperator& a, Scalars& scalars, int rhs, int m,
                                std::unique_ptr<Preconditioner> preconditioner);
  void iterate(int width, int phase) override;
  int phases() const override { return static_cast<int>(p_.size()); }
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  SpinorField& fresh() override { return r_; }
  std::vector<SpinorField*> state() override;
  int applications() const override { return 1 + (preconditioner_ ? preconditioner_->applications() : 0); }

 private:
  static constexpr int group = 4;
  /// Projections on images first ... first + group - 1; those that are not there have weight zero.
  struct Group {
    int image[group];
    Step project, orthogonalise;
  };
  Group make_group(int first, int count) const;
  /// Makes direction and image number j orthogonal to the earlier ones.
  void orthogonalise(int width, int j);

  SpinorField r_;
  std::vector<SpinorField> p_, q_;          // directions and their images
  std::vector<std::vector<Group>> groups_;  // by step
  std::vector<Step> alpha_;                 // by step
  Step measure_, direction_, step_;
  std::unique_ptr<Preconditioner> preconditioner_;
};

}  // namespace quarksmith
