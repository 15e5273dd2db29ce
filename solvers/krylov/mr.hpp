/// \file
/// Minimal residual iteration.
#pragma once

#include "solvers/krylov/recurrence.hpp"

namespace quarksmith {

/// A y = r for A whose Hermitian part is positive definite.
///
/// Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 5.3, over-relaxed: y += omega alpha r,
/// alpha = (A r, r) / (A r, A r). It keeps nothing of earlier iterations, so that a replaced residual needs no care. A
/// few steps of it are a cheap preconditioner. An iteration applies A once and reads or writes seven fields besides.
class MinimalResidual final : public Recurrence {
 public:
  /// \param a outlives this, as the scalars do. \param omega between 0 and 2
  MinimalResidual(const LinearOperator& a, Scalars& scalars, int rhs, double omega);
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override { start(first, count); }
  SpinorField& fresh() override { return r_; }
  std::vector<SpinorField*> state() override { return {&y_, &r_}; }
  int applications() const override { return 1; }

 private:
  double omega_;
  SpinorField r_, q_;
  Step measure_, alpha_, step_;
};

}  // namespace quarksmith
