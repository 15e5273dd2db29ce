/// \file
/// Even-odd forms of M = T + h D (T. A. DeGrand and P. Rossi, Comput. Phys. Commun. 60 (1990) 211).
#pragma once

#include <memory>
#include <optional>

#include "solvers/actions/hopping_term.hpp"

namespace quarksmith {

/// Common part of the two even-odd forms.
class HoppingEvenOdd : public EvenOddOperator {
 public:
  const DomainPointer& domain() const override { return hopping_->domain(); }
  const PrecisionInfo& precision() const override { return hopping_->precision(); }
  Components components() const override { return hopping_->components(); }
  int slices() const override { return hopping_->slices(); }
  double bytes_sent() const override { return 2 * hopping_->bytes_sent(); }
  Subset subset() const override { return subset_of(kept_); }

 protected:
  /// \param hopping outlives this.
  /// \param rhs right-hand sides at most.
  /// \param kept sites that the form acts on: even below, if the others are called odd.
  HoppingEvenOdd(const HoppingTerm& hopping, int rhs, Parity kept);
  Parity others() const { return opposite(kept_); }

  const HoppingTerm* hopping_;
  Parity kept_;
  mutable SpinorField odd_;  // work space on the sites that the form eliminates
  double t_, h_;
};

/// 1 - h^2 T_ee^-1 D_eo T_oo^-1 D_oe (symmetric) or T_ee - h^2 D_eo T_oo^-1 D_oe (asymmetric).
class GeneralEvenOdd final : public HoppingEvenOdd {
 public:
  GeneralEvenOdd(const HoppingTerm& hopping, EvenOddForm form, int rhs = 1, Parity kept = Parity::even);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override { apply(out, in, dagger, nullptr); }
  bool apply_summing(SpinorField& out, const SpinorField& in, Dagger dagger, const ProductSums& sums) const override;
  int sum_groups() const override { return hopping_->sum_groups(); }
  void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const override;
  void multiply_term(SpinorField& out, const SpinorField& in) const override;
  double flops() const override;
  /// Right-hand side of the even-odd form: b_e - h D_eo T_oo^-1 b_o, times T_ee^-1 if symmetric. `b` has all sites.
  void prepare(SpinorField& reduced, const SpinorField& b) const override;
  /// Odd sites of the solution: T_oo^-1 (b_o - h D_oe x_e); even sites are copied from `reduced`.
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override;
  double residual_scale() const override;

 private:
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger, const ProductSums* sums) const;
  /// `even` on the even sites, and on the odd ones psi_o = -T_oo^-1 h D_oe psi_e, or -(T_oo^-1)^+ h (D_eo)^+ psi_e.
  SpinorField completed(const SpinorField& even, Dagger dagger) const;

  EvenOddForm form_;
  mutable std::optional<SpinorField> even_;  // where T is no number
};

/// The even-even block of M M^+ where D^+ = -D and T is a number t: t^2 - h^2 D_eo D_oe, Hermitian and positive; or the
/// odd-odd block.
class HermitianEvenOdd final : public HoppingEvenOdd {
 public:
  HermitianEvenOdd(const HoppingTerm& hopping, int rhs, Parity parity = Parity::even);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  double flops() const override;
  bool hermitian() const override { return true; }
  /// \throws UsageError always: it stands for M^+ M.
  void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const override;
  void add_squared_force(ForceSink& force, const SpinorField& x, const std::vector<double>& residues) const override;
  /// t b_e - h D_eo b_o
  void prepare(SpinorField& reduced, const SpinorField& b) const override;
  /// x_o = (b_o - h D_oe x_e) / t
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override;
  double residual_scale() const override;
};

/// Makes an even-odd form: HermitianEvenOdd if D^+ = -D and T is a number, else GeneralEvenOdd. \throws UsageError T is
/// singular.
std::unique_ptr<EvenOddOperator> even_odd(const HoppingTerm& hopping, EvenOddForm form, int rhs,
                                          Parity kept = Parity::even);

}  // namespace quarksmith
