/// \file
/// Stabilised bi-conjugate gradients.
#pragma once

#include "solvers/krylov/recurrence.hpp"

namespace quarksmith {

/// A y = r.
///
/// H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631. The shadow residual is the first residual; a replaced
/// residual enters rho and beta as one of the recurrence would (G. L. G. Sleijpen and H. A. van der Vorst, Computing 56
/// (1996) 141). An iteration applies A twice and reads or writes eighteen fields besides.
class BiCGstab final : public Recurrence {
 public:
  /// \param a outlives this, as the scalars do.
  BiCGstab(const LinearOperator& a, Scalars& scalars, int rhs);
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  void complete(int first, int count) override;
  SpinorField& fresh() override { return r_; }
  std::vector<SpinorField*> state() override { return {&y_, &r_, &shadow_, &p_, &v_}; }

 private:
  SpinorField r_, shadow_, p_, v_, t_;
  Step direction_, alpha_, half_step_, omega_, step_, advance_, replace_;
};

}  // namespace quarksmith
