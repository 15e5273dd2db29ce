/// \file
/// BiCGstab with minimal residual polynomials of higher degree.
#pragma once

#include "solvers/krylov/recurrence.hpp"

namespace quarksmith {

/// A y = r.
///
/// G. L. G. Sleijpen and D. R. Fokkema, Electron. Trans. Numer. Anal. 1 (1993) 11, algorithm 3.1: l steps of
/// bi-conjugate gradients, then the residual is made minimal over the l images that they have left, by the modified
/// Gram-Schmidt process. All coefficients are computed on the device; one scalar program solves the triangular systems
/// for any l up to 4. With l = 1 it is BiCGstab; l = 2 copes with eigenvalues near the imaginary axis. A replaced
/// residual enters rho and beta as in BiCGstab. An iteration is all l steps: it applies A 2 l times and reads or
/// writes besides 22, 56, 101, 157 fields for l = 1, 2, 3, 4.
class BiCGstabL final : public Recurrence {
 public:
  static constexpr int most_l = 4;
  /// \param a outlives this, as the scalars do. \param l 1 ... most_l
  BiCGstabL(const LinearOperator& a, Scalars& scalars, int rhs, int l);
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  SpinorField& fresh() override { return r_[0]; }
  std::vector<SpinorField*> state() override { return {&y_, &shadow_, &r_[0], &u_[0]}; }
  int applications() const override { return 2 * l_; }

 private:
  using Slices = std::vector<SpinorField>;
  void bi_conjugate(const SpinorField& y, Slices& r, Slices& u, int j);
  void minimise(const SpinorField& y, Slices& r, Slices& u);
  Step step(const char* operation, std::initializer_list<std::pair<std::string_view, std::string_view>> renamed);

  int l_;
  SpinorField shadow_;
  Slices r_, u_;  // A^j r, A^j u
  Step direction_, alpha_, descend_, advance_, rho_, solve_, step_, replace_;
  std::vector<std::vector<Step>> tau_, remove_;  // of r_j from r_i: [j - 1][i - 1]
  std::vector<Step> minimise_, update_, lower_;  // of r_j and u_j: [j - 1]
};

}  // namespace quarksmith
