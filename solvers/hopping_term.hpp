/// \file
/// The Wilson, Wilson-clover and twisted-mass Dirac operators and their even-odd forms.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "solvers/action.hpp"
#include "solvers/site_term.hpp"

namespace quarksmith {

/// Parameters of a Wilson-type action, in the mass normalisation of docs/conventions.md.
struct WilsonParameters {
  double mass = 0;
  double xi0 = 1;    ///< bare anisotropy a_s / a_t
  double nu = 1;     ///< ratio of the bare speed of light to one
  double csw_r = 0;  ///< clover coefficient of space planes, c_ij = csw_r / xi0
  double csw_t = 0;  ///< clover coefficient of time planes, c_i4 = csw_t
  Twist twist;       ///< M + i mu gamma_5, or + i mu gamma_5 tau_3 + epsilon tau_1
  /// Phase that multiplies the hop across the last slice of each direction.
  std::array<Complex64, directions> boundary{1, 1, 1, -1};

  /// Diagonal of M without clover: m + 1 + 3 nu / xi0.
  double diagonal() const { return mass + 1 + 3 * nu / xi0; }
  bool has_clover() const { return csw_r != 0 || csw_t != 0; }
  /// m = 1/(2 kappa) - 4, also for anisotropic actions.
  static double mass_of_kappa(double kappa) { return 1 / (2 * kappa) - 4; }
  /// exp(i pi angle), exactly real for integers.
  static Complex64 phase_of(double angle);
};

/// The hopping term D and the site term T of M = T - D/2 on one device, for one precision, link storage and basis.
///
/// Without clover and twist T is a number t: T^-1 is then left to the caller as `inverse_scale`, and the forms below
/// use the plain kernels. `inverse_scale` is 1/t then and 1 else.
class WilsonHopping {
 public:
  /// \param spinors precision of the fields.
  /// \param plain_links the same gauge field with 18 doubles; needed if the action has a clover term.
  /// \throws UsageError the build lacks a kernel; the message is the profile row to add.
  WilsonHopping(std::shared_ptr<const LinkField> links, const PrecisionInfo& spinors, const BasisInfo& basis,
                const WilsonParameters& parameters, const LinkField* plain_links = nullptr);

  /// The operator of this rank's part alone: hops that leave it find zero (a Dirichlet cut, as for Schwarz
  /// preconditioning; M. Luescher, Comput. Phys. Commun. 156 (2004) 209). Its fields are of a domain without other
  /// ranks; links and clover term are shared with this.
  WilsonHopping cut() const;

  /// out = D in (or D^+ in) at the sites of `parity`.
  void apply(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const;
  /// out = a x + b D in; `x` may be `out`, here and below.
  void apply(SpinorField& out, double a, const SpinorField& x, double b, const SpinorField& in, Parity parity,
             Dagger dagger) const;
  /// out = T x + b D in
  void apply_t(SpinorField& out, const SpinorField& x, double b, const SpinorField& in, Parity parity,
               Dagger dagger) const;
  /// out = T^-1 D in / inverse_scale
  void apply_inverse(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger) const;
  /// out = a x + b T^-1 D in / inverse_scale
  void apply_inverse(SpinorField& out, double a, const SpinorField& x, double b, const SpinorField& in, Parity parity,
                     Dagger dagger) const;
  /// out = b T^-1 x where T is no number.
  void apply_inverse_term(SpinorField& out, double b, const SpinorField& x, Parity parity,
                          Dagger dagger = Dagger::no) const;

  double inverse_scale() const { return has_term() ? 1 : 1 / parameters_.diagonal(); }
  /// T is no number.
  bool has_term() const { return !term_.is_number(); }
  const SiteTerm& term() const { return term_; }
  /// Flavours: slices of a vector.
  int slices() const { return term_.flavours(); }
  /// A vector of its space.
  SpinorField field(Subset subset, int rhs) const { return {domain_, *precision_, subset, rhs, 4, slices()}; }
  const WilsonParameters& parameters() const { return parameters_; }
  const BasisInfo& basis() const { return *basis_; }
  const DomainPointer& domain() const { return domain_; }
  const PrecisionInfo& precision() const { return *precision_; }
  /// Null without clover.
  const CloverTerm* clover() const { return term_.clover(); }
  /// Flops of one parity and right-hand side: of D, a x + b D, T x + b D, T^-1 D, a x + b T^-1 D.
  enum class Form { plain, axpby, taxpby, tinv, axpby_tinv };
  double flops(Form form) const;
  /// Bytes that this rank sends to others for D on the sites of one parity, one right-hand side.
  double bytes_sent() const;

 private:
  static constexpr int forms = 5, tiles = 3;
  using Tiles = std::array<const Kernel*, tiles>;
  Tiles kernels_of(Form form, bool dagger, bool complex_phase) const;
  void run(Form form, Arguments a, SpinorField& out, const SpinorField* x, const SpinorField& in, Parity parity,
           Dagger dagger) const;

  std::shared_ptr<const LinkField> links_;
  DomainPointer domain_;
  const PrecisionInfo* precision_;
  const BasisInfo* basis_;
  WilsonParameters parameters_;
  Hops hops_;
  SiteTerm term_;
  const Kernel* apply_term_ = nullptr;
  std::array<std::array<Tiles, forms>, 2> kernel_{};  // [dagger][form][tile 4, 2, 1]; null where not built
};

/// M = T - D/2 on all sites.
class WilsonMatrix final : public LinearOperator {
 public:
  explicit WilsonMatrix(const WilsonHopping& hopping) : hopping_(&hopping) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return hopping_->domain(); }
  const PrecisionInfo& precision() const override { return hopping_->precision(); }
  int slices() const override { return hopping_->slices(); }
  double flops() const override;
  double bytes_sent() const override { return 2 * hopping_->bytes_sent(); }

 private:
  const WilsonHopping* hopping_;
};

/// How the system is reduced to the even sites.
enum class EvenOdd { symmetric, asymmetric };

/// 1 - T_ee^-1 D_eo T_oo^-1 D_oe / 4 (symmetric) or T_ee - D_eo T_oo^-1 D_oe / 4 (asymmetric); even sites.
/// T. A. DeGrand and P. Rossi, Comput. Phys. Commun. 60 (1990) 211.
class WilsonEvenOdd final : public ReducedOperator {
 public:
  /// \param rhs right-hand sides at most.
  WilsonEvenOdd(const WilsonHopping& hopping, EvenOdd form, int rhs = 1);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  const DomainPointer& domain() const override { return hopping_->domain(); }
  const PrecisionInfo& precision() const override { return hopping_->precision(); }
  int slices() const override { return hopping_->slices(); }
  double flops() const override;
  double bytes_sent() const override { return 2 * hopping_->bytes_sent(); }

  /// Right-hand side of the reduced system: b_e + D_eo T_oo^-1 b_o / 2, times T_ee^-1 if symmetric. `b` holds all
  /// sites.
  void prepare(SpinorField& reduced, const SpinorField& b) const override;
  /// Odd sites of the solution: T_oo^-1 (b_o + D_oe x_e / 2); even sites are copied from `reduced`.
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override;
  double residual_scale() const override;

 private:
  const WilsonHopping* hopping_;
  EvenOdd form_;
  mutable SpinorField odd_;
  mutable std::optional<SpinorField> even_;  // where T is no number
};

/// The Wilson operators in one precision.
class WilsonDirac final : public DiracOperator {
 public:
  explicit WilsonDirac(WilsonHopping hopping) : hopping_(std::move(hopping)), matrix_(hopping_) {}
  const WilsonHopping& hopping() const { return hopping_; }
  const LinearOperator& matrix() const override { return matrix_; }
  std::unique_ptr<ReducedOperator> reduced(Reduction form, int rhs) const override;
  std::unique_ptr<DiracOperator> cut() const override;
  int work_fields() const override { return hopping_.has_term() ? 2 : 1; }
  bool embeds() const override { return hopping_.slices() > 1; }
  /// The source in the flavour of Twist::source.
  void embed(SpinorField& b, const SpinorField& source) const override;
  /// The flavour Twist::sink.
  void project(SpinorField& quark, const SpinorField& x) const override;

 private:
  WilsonHopping hopping_;
  WilsonMatrix matrix_;
};

/// Wilson-type actions.
class WilsonAction final : public Action {
 public:
  explicit WilsonAction(const WilsonParameters& parameters) : parameters_(parameters) {}
  std::string name() const override;
  int slices() const override { return parameters_.twist.flavours; }
  std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const override;

 private:
  WilsonParameters parameters_;
};

}  // namespace quarksmith
