/// \file
/// The hopping term and the site term of an action, as its statement gives them, and its operator on all sites.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "solvers/actions/action_fields.hpp"
#include "solvers/actions/dirac.hpp"
#include "solvers/actions/site_term.hpp"

namespace quarksmith {

/// D and T of M = T + h D on one device, for one precision, link storage and basis.
///
/// If T is a number t, the caller has to multiply by T^-1 = `inverse_scale`, and the functions below use plain kernels.
/// Otherwise `inverse_scale` is 1.
class HoppingTerm {
 public:
  /// \param fields of an action of hopping shape. Links have the storage of the link store; with long links, the short
  /// ones have all reals.
  /// \throws UsageError the build lacks a kernel; the message is the profile row to add.
  HoppingTerm(const ActionFields& fields, const PrecisionInfo& precision, const BoundaryPhases& boundary);

  /// The hopping term with other values of the parameters, for actions whose T is a number and whose hops have none.
  HoppingTerm with(const ActionValues& values) const;

  /// The operator of the local lattice alone, with Dirichlet boundaries: hops that leave it find zero, as for Schwarz
  /// preconditioning (M. Luescher, Comput. Phys. Commun. 156 (2004) 209). Its fields are of a domain without other
  /// ranks; links and clover term are shared with this.
  HoppingTerm dirichlet() const;

  /// out = D in (or D^+ in) at the sites of `parity`; if D^+ = -D, D^+ is only available in the next function.
  /// \param sums only its active right-hand sides are used; here and below.
  void apply(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger,
             const ProductSums* sums = nullptr) const;
  /// out = a x + b D in; `x` may be `out`, here and below. \param sums to compute, with x instead of their `in`.
  void apply(SpinorField& out, double a, const SpinorField& x, double b, const SpinorField& in, Parity parity,
             Dagger dagger, const ProductSums* sums = nullptr) const;
  /// out = T x + b D in
  void apply_t(SpinorField& out, const SpinorField& x, double b, const SpinorField& in, Parity parity, Dagger dagger,
               const ProductSums* sums = nullptr) const;
  /// out = T^-1 D in / inverse_scale
  void apply_inverse(SpinorField& out, const SpinorField& in, Parity parity, Dagger dagger,
                     const ProductSums* sums = nullptr) const;
  /// out = b T^-1 D in, if T is not just a number
  void apply_inverse(SpinorField& out, double b, const SpinorField& in, Parity parity, Dagger dagger,
                     const ProductSums* sums = nullptr) const;
  /// out = a x + b T^-1 D in / inverse_scale
  void apply_inverse(SpinorField& out, double a, const SpinorField& x, double b, const SpinorField& in, Parity parity,
                     Dagger dagger, const ProductSums* sums = nullptr) const;
  /// Groups of sites of one parity for which kernels compute sums; 0: they compute none, as on CPUs, where this would
  /// take a loop of its own, or on ranks that cannot or shall not use policy `fused`.
  int sum_groups() const;
  /// out = T x, if T is not just a number and has no twisted mass.
  void apply_term(SpinorField& out, const SpinorField& x, Parity parity) const;
  /// out = b T^-1 x, if T is not just a number.
  void apply_inverse_term(SpinorField& out, double b, const SpinorField& x, Parity parity,
                          Dagger dagger = Dagger::no) const;

  /// The h of M = T + h D.
  double h() const { return values_.info().h; }
  double inverse_scale() const { return has_term() ? 1 : 1 / term_.diagonal(); }
  /// Whether T is not just a number.
  bool has_term() const { return !term_.is_number(); }
  const SiteTerm& term() const { return term_; }
  /// Flavours: slices of a vector.
  int slices() const { return term_.flavours(); }
  Components components() const { return {values_.info().spins, links_->colours()}; }
  /// A field on which the operator acts.
  SpinorField field(Subset subset, int rhs) const {
    return {domain_, *precision_, subset, rhs, components(), slices()};
  }
  const ActionValues& values() const { return values_; }
  const BasisInfo& basis() const { return *basis_; }
  const DomainPointer& domain() const { return domain_; }
  const PrecisionInfo& precision() const { return *precision_; }
  /// Flops of one parity and right-hand side.
  double flops(Epilogue epilogue) const;
  /// Bytes that this rank sends to others for D on the sites of one parity, one right-hand side.
  double bytes_sent() const;

 private:
  using Tiles = std::vector<const Kernel*>;  // from the largest tile down
  void set_hops(const BoundaryPhases& boundary);
  static std::shared_ptr<const StoredTerm> stored_term(const ActionFields& fields, const PrecisionInfo& precision);
  Tiles kernels_of(Epilogue epilogue, bool dagger, bool complex_phase) const;
  bool lacks_dagger() const { return values_.info().anti_hermitian; }
  double sign(Dagger dagger) const { return dagger == Dagger::yes && lacks_dagger() ? -1 : 1; }
  void run(Epilogue epilogue, Arguments a, SpinorField& out, const SpinorField* x, const SpinorField& in, Parity parity,
           Dagger dagger, const ProductSums* sums = nullptr) const;

  std::shared_ptr<const LinkField> links_, long_links_;
  DomainPointer domain_;
  const PrecisionInfo* precision_;
  const BasisInfo* basis_;
  ActionValues values_;
  std::array<Hops, 2> hops_, more_hops_;  // of D and D^+; those of long hops, or runtime/kernels/hop_weights.hpp
  SiteTerm term_;
  Arguments arguments_of_term(SpinorField& out, const SpinorField& x, Parity parity) const;
  const Kernel* apply_term_ = nullptr;
  std::array<std::map<Epilogue, Tiles>, 2> kernel_;  // of D and D^+
};

/// M = T + h D on all sites.
class HoppingMatrix final : public DiracMatrix {
 public:
  /// \param hopping outlives this.
  explicit HoppingMatrix(const HoppingTerm& hopping) : hopping_(&hopping) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const override;
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return hopping_->domain(); }
  const PrecisionInfo& precision() const override { return hopping_->precision(); }
  Components components() const override { return hopping_->components(); }
  int slices() const override { return hopping_->slices(); }
  double flops() const override;
  double bytes_sent() const override { return 2 * hopping_->bytes_sent(); }

 private:
  const HoppingTerm* hopping_;
};

}  // namespace quarksmith
