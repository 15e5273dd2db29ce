/// \file
/// Conjugate gradients that minimise the error.
#pragma once

#include "solvers/krylov/recurrence.hpp"

namespace quarksmith {

/// A A^+ u = r, y = A^+ u.
///
/// E. J. Craig, J. Math. Phys. 34 (1955) 64, in the form CGNE (Y. Saad, Iterative Methods for Sparse Linear Systems,
/// 2nd ed., algorithm 8.5): it minimises |y - A^-1 r|, and its residual is that of A y = r, which need not fall in
/// every iteration. When the residual is replaced the direction is kept, and the next one is made orthogonal to it:
/// beta = -Re (r', A p) / (p, p). An iteration applies A and A^+ once and reads or writes eight fields besides.
class CraigsMethod final : public Recurrence {
 public:
  /// \param a outlives this, as the scalars do.
  CraigsMethod(const LinearOperator& a, Scalars& scalars, int rhs);
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  void complete(int first, int count) override;
  SpinorField& fresh() override { return r_; }
  std::vector<SpinorField*> state() override { return {&y_, &r_, &p_, &q_}; }

 private:
  SpinorField r_, p_, q_, w_;
  Step measure_, direction_, residual_, advance_, replace_;
};

}  // namespace quarksmith
