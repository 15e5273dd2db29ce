/// \file
/// The Wilson Dirac operator and its even-odd forms.
#pragma once

#include <array>

#include "solvers/linear_operator.hpp"

namespace quarksmith {

/// Parameters of a Wilson-type action, in the mass normalisation of docs/conventions.md.
struct WilsonParameters {
  double mass = 0;
  double xi0 = 1;  ///< bare anisotropy a_s / a_t
  double nu = 1;   ///< ratio of the bare speed of light to one
  /// Phase that multiplies the hop across the last slice of each direction.
  std::array<Complex64, directions> boundary{1, 1, 1, -1};

  /// Diagonal of M: m + 1 + 3 nu / xi0.
  double diagonal() const { return mass + 1 + 3 * nu / xi0; }
  /// m = 1/(2 kappa) - 4, also for anisotropic actions.
  static double mass_of_kappa(double kappa) { return 1 / (2 * kappa) - 4; }
};

/// The hopping term D on one device: links, boundary phases and the kernels for one precision, storage and basis.
class WilsonHopping {
 public:
  /// \throws UsageError the build lacks a kernel; the message is the profile row to add.
  WilsonHopping(std::shared_ptr<const LinkField> links, const BasisInfo& basis, const WilsonParameters& parameters);

  /// The sites of `parity` of `out` become D in, or D^+ in; fields of precision().
  void apply(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const;
  /// The sites of `parity` of `out` become a x + b D in; `x` may be `out`.
  void apply(SpinorField& out, double a, const SpinorField& x, double b, const SpinorField& in, Parity parity,
             Dagger dagger) const;

  const WilsonParameters& parameters() const { return parameters_; }
  const BasisInfo& basis() const { return *basis_; }
  const DomainPointer& domain() const { return links_->domain_pointer(); }
  const PrecisionInfo& precision() const { return links_->precision(); }
  /// Flops of D at the sites of one parity and one right-hand side, with and without a x + b.
  double flops(bool axpby) const;

 private:
  void run(const Kernel* const (&kernels)[3], Arguments& a, SpinorField& out, const SpinorField* x,
           const SpinorField& in, Parity parity) const;

  std::shared_ptr<const LinkField> links_;
  const BasisInfo* basis_;
  WilsonParameters parameters_;
  Hops hops_;
  const Kernel* kernel_[2][2][3];  // [dagger][epilogue none, axpby][tile 4, 2, 1]; null where a tile was not built
};

/// M = (m + 1 + 3 nu/xi0) - D/2 on all sites.
class WilsonMatrix final : public LinearOperator {
 public:
  explicit WilsonMatrix(const WilsonHopping& hopping) : hopping_(&hopping) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return hopping_->domain(); }
  const PrecisionInfo& precision() const override { return hopping_->precision(); }
  double flops() const override { return 2 * hopping_->flops(true); }

 private:
  const WilsonHopping* hopping_;
};

/// How the system is reduced to the even sites.
enum class EvenOdd { symmetric, asymmetric };

/// 1 - D_eo D_oe / (4 T^2) (symmetric) or T - D_eo D_oe / (4 T) (asymmetric), T the diagonal of M; even sites.
/// T. A. DeGrand and P. Rossi, Comput. Phys. Commun. 60 (1990) 211.
class WilsonEvenOdd final : public LinearOperator {
 public:
  WilsonEvenOdd(const WilsonHopping& hopping, EvenOdd form, int rhs = 1);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return Subset::even; }
  const DomainPointer& domain() const override { return hopping_->domain(); }
  const PrecisionInfo& precision() const override { return hopping_->precision(); }
  double flops() const override { return hopping_->flops(false) + hopping_->flops(true); }

  /// Right-hand side of the reduced system: b_e + D_eo b_o / (2 T), times 1/T if symmetric. `b` holds all sites.
  void prepare(SpinorField& reduced, const SpinorField& b) const;
  /// Odd sites of the solution: (b_o + D_oe x_e / 2) / T; even sites are copied from `reduced`.
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const;
  /// |residual of M| / |residual of the reduced system|: what a tolerance must be multiplied with.
  double residual_scale() const { return form_ == EvenOdd::symmetric ? hopping_->parameters().diagonal() : 1; }

 private:
  const WilsonHopping* hopping_;
  EvenOdd form_;
  mutable SpinorField odd_;
};

}  // namespace quarksmith
