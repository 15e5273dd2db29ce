/// \file
/// P^+ M P on the lattice of blocks.
#pragma once

#include <memory>
#include <optional>

#include "solvers/multigrid/even_odd_system.hpp"
#include "solvers/multigrid/coarse_stencil.hpp"

namespace quarksmith {

/// P^+ M P with a matrix for each site and each neighbour to which M couples it: the eight nearest ones, or also those
/// at edges and corners. M may be any LinearOperator.
class CoarseOperator final : public LinearOperator, public EvenOddSystem {
 public:
  /// \param fine only used in the constructor. \param rhs most right-hand sides of the even-odd form.
  /// \param packed whether matrices are stored in 16 bits.
  /// \throws UsageError M couples blocks that do not touch, or hops over more than half a block: a random vector is not
  /// mapped as by P^+ M P.
  CoarseOperator(const Transfer& transfer, const LinearOperator& fine, int rhs, bool packed = false);
  ~CoarseOperator() override;

  /// Allocates work space of the even-odd form for `rhs` right-hand sides.
  void reserve(int rhs);
  /// out = P^+ M P in. \throws UsageError `dagger` is Dagger::yes.
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return domain_; }
  const PrecisionInfo& precision() const override { return *precision_; }
  int slices() const override { return slices_; }
  double flops() const override;
  /// Displacements to the sites that are coupled to a site.
  const CoarseStencil& stencil() const { return stencil_; }
  /// Bytes of all matrices, of a field that is read, and of one that is written.
  double bytes(int rhs) const;

  const LinearOperator& full() const override { return *this; }
  /// 1 - X_ee^-1 C_eo X_oo^-1 C_oe, X the matrices at the sites themselves, if all others change the parity of a site;
  /// else 1 + X^-1 C on all sites.
  const LinearOperator& even_odd_operator() const override;
  void prepare(SpinorField& reduced, const SpinorField& b) const override;
  void source(SpinorField& b, const SpinorField& reduced) const override;
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override;

 private:
  class EvenOdd;
  /// The matrices whose results are on the sites of one subset.
  struct Part {
    CoupledBlocks matrices;
    SiteMatrices inverse;  ///< inverses of the matrices at the sites themselves
  };

  Part make_part(Subset to, Subset from) const;
  void verify(const Transfer& transfer, const LinearOperator& fine, double limit) const;

  SpinorField on(Subset subset, int rhs) const { return {domain_, *precision_, subset, rhs, {}, slices_}; }

  DomainPointer domain_;
  const PrecisionInfo* precision_;
  int slices_, rows_;
  CoarseStencil stencil_;
  std::vector<Part> parts_;  ///< even from odd sites and odd from even ones, or all from all
  SpinorField product_;      ///< work space on the sites of the even-odd form
  std::optional<SpinorField> odd_, other_;
  std::unique_ptr<EvenOdd> even_odd_;
};

}  // namespace quarksmith
