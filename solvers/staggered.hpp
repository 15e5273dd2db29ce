/// \file
/// Staggered quarks: M = 2m + D with the thin links of a gauge field, or with the fat and long links of the asqtad and
/// HISQ actions (docs/operator-staggered.md).
#pragma once

#include <array>
#include <memory>

#include "solvers/action.hpp"
#include "solvers/improved_links.hpp"

namespace quarksmith {

/// Parameters of a staggered action.
struct StaggeredParameters {
  enum class Kind { thin, asqtad, hisq };
  Kind kind = Kind::thin;
  double mass = 0;          ///< m of M = 2m + D
  double u0 = 1;            ///< tadpole factor of asqtad
  double naik_epsilon = 0;  ///< of the long links of HISQ
  std::array<Complex64, directions> boundary{1, 1, 1, -1};
};

/// The anti-Hermitian hopping term of staggered quarks between the two halves of a lattice, in one precision.
class StaggeredHopping {
 public:
  /// \param long_links of hops over three sites; null: there are none.
  /// \throws UsageError the build lacks kernels.
  StaggeredHopping(std::shared_ptr<const LinkField> links, std::shared_ptr<const LinkField> long_links,
                   const PrecisionInfo& precision, const std::array<Complex64, directions>& boundary);

  /// out = D in on the sites of `parity`; `in` holds the others.
  void apply(SpinorField& out, const SpinorField& in, Parity parity) const;
  /// out = alpha x + beta D in.
  void apply(SpinorField& out, double alpha, const SpinorField& x, double beta, const SpinorField& in,
             Parity parity) const;

  const DomainPointer& domain() const { return links_->domain_pointer(); }
  const PrecisionInfo& precision() const { return *precision_; }
  /// Of one application on one parity to one right-hand side, on all ranks.
  double flops(bool axpby) const;
  /// By each rank.
  double bytes_sent() const;

 private:
  static constexpr int tiles = 4;
  using Tiles = std::array<const Kernel*, tiles>;
  void run(const Tiles& kernels, Arguments a, SpinorField& out, const SpinorField* x, const SpinorField& in,
           Parity parity) const;

  std::shared_ptr<const LinkField> links_, long_links_;
  const PrecisionInfo* precision_;
  Hops hops_, long_hops_;
  Tiles plain_{}, axpby_{};  ///< null where a tile was not built
};

/// What operators on staggered fields have in common.
template <class Base>
class StaggeredVectors : public Base {
 public:
  explicit StaggeredVectors(const StaggeredHopping& hopping) : hopping_(&hopping) {}
  const DomainPointer& domain() const override { return hopping_->domain(); }
  const PrecisionInfo& precision() const override { return hopping_->precision(); }
  int spins() const override { return 1; }
  double bytes_sent() const override { return 2 * hopping_->bytes_sent(); }
  double flops() const override { return hopping_->flops(this->subset() == Subset::full) + hopping_->flops(true); }

 protected:
  const StaggeredHopping* hopping_;
};

/// M = 2m + D on all sites; M^+ = 2m - D.
class StaggeredMatrix final : public StaggeredVectors<LinearOperator> {
 public:
  /// \param hopping outlives this.
  StaggeredMatrix(const StaggeredHopping& hopping, double mass) : StaggeredVectors(hopping), mass_(mass) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return Subset::full; }

 private:
  double mass_;
};

/// The even-even block of M M^+, 4m^2 - D_eo D_oe: Hermitian and positive. Or the odd-odd block.
class StaggeredEvenOdd final : public StaggeredVectors<ReducedOperator> {
 public:
  /// \param hopping outlives this.
  /// \param rhs right-hand sides at most.
  StaggeredEvenOdd(const StaggeredHopping& hopping, double mass, int rhs, Parity parity = Parity::even);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return parity_ == Parity::even ? Subset::even : Subset::odd; }
  bool hermitian() const override { return true; }
  /// 2m b_e - D_eo b_o
  void prepare(SpinorField& reduced, const SpinorField& b) const override;
  /// x_o = (b_o - D_oe x_e) / (2m)
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override;
  double residual_scale() const override { return 1 / (2 * mass_); }

 private:
  double mass_;
  Parity parity_;
  mutable SpinorField other_;
};

/// A staggered action in one precision.
class StaggeredDirac final : public DiracOperator {
 public:
  StaggeredDirac(StaggeredHopping hopping, double mass)
      : hopping_(std::make_unique<StaggeredHopping>(std::move(hopping))), matrix_(*hopping_, mass), mass_(mass) {}
  const LinearOperator& matrix() const override { return matrix_; }
  /// All forms are the same one.
  std::unique_ptr<ReducedOperator> reduced(Reduction form, int rhs) const override;
  const StaggeredHopping& hopping() const { return *hopping_; }

 private:
  std::unique_ptr<StaggeredHopping> hopping_;
  StaggeredMatrix matrix_;
  double mass_;
};

/// Staggered, asqtad or HISQ quarks of one mass. Its domain is made for hops over reach() sites; the storage of links
/// that a solver is given is that of the long links where there are such, fat ones have 18 reals.
class StaggeredAction final : public Action {
 public:
  /// \throws UsageError the mass is not positive.
  explicit StaggeredAction(const StaggeredParameters& parameters);
  /// With fat and long links that were made elsewhere, without phases.
  StaggeredAction(const StaggeredParameters& parameters, std::shared_ptr<const ImprovedLinks> links);

  std::string name() const override;
  int spins() const override { return 1; }
  std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const override;
  LinkDeviation deviation(const LinkStore& links) const override;
  StaggeredHopping hopping(const LinkStore& links, const PrecisionInfo& precision) const;
  const StaggeredParameters& parameters() const { return parameters_; }
  int reach() const override { return parameters_.kind == StaggeredParameters::Kind::thin ? 1 : 3; }

 private:
  const ImprovedLinks& improved(const LinkStore& links) const;

  StaggeredParameters parameters_;
  std::shared_ptr<const ImprovedLinks> given_;
};

}  // namespace quarksmith
