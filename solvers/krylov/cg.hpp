/// \file
/// Conjugate gradients on the normal equations.
#pragma once

#include "solvers/krylov/method.hpp"

namespace quarksmith {

/// The matrix of the system that conjugate gradients solve.
enum class CgForm {
  normal,    ///< any A: solves A^+ A y = A^+ r
  hermitian  ///< A Hermitian, A + sigma positive: solves (A + sigma) y = r, sigma a scalar of each right-hand side
};

/// Solves A^+ A y = A^+ r, or (A + sigma) y = r, by conjugate gradients.
///
/// M. R. Hestenes and E. Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409, in the form CGNR (Y. Saad, Iterative Methods
/// for Sparse Linear Systems, 2nd ed., algorithm 8.4). When the residual is replaced the direction is kept: it is made
/// orthogonal to the new residual, and enters the next one with beta = (r', r' - r_{k-1}) / (r_{k-1}, r_{k-1}) (E.
/// Polak and G. Ribiere, Rev. fr. inf. rech. op. 3 (1969) 35), which with r' = r_k is that of Hestenes and Stiefel. An
/// iteration applies A and A^+ once and reads or writes nine fields besides; in the Hermitian form it applies A once.
class ConjugateGradients final : public Recurrence {
 public:
  /// \param a,scalars must outlive this.
  ConjugateGradients(const LinearOperator& a, Scalars& scalars, int rhs, CgForm form = CgForm::normal);
  bool normal() const override { return form_ == CgForm::normal; }
  bool steady() const override { return true; }
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  void complete(int first, int count) override;
  SpinorField& fresh() override { return w_; }
  std::vector<SpinorField*> state() override { return {&y_, &r_, &p_, &q_}; }
  int applications() const override { return form_ == CgForm::normal ? 2 : 1; }

 private:
  CgForm form_;
  SpinorField r_, p_, q_, w_;
  Step measure_, direction_, curvature_, residual_, advance_, replace_, reproject_;
};

template <CgForm form>
std::unique_ptr<Recurrence> make_cg(const LinearOperator& a, const LinearOperator&, Scalars& scalars, int rhs,
                                    const MethodParameters&) {
  return std::make_unique<ConjugateGradients>(a, scalars, rhs, form);
}

}  // namespace quarksmith
