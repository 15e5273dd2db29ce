/// \file
/// P^+ M P on the lattice of blocks.
#pragma once

#include <memory>

#include "solvers/multigrid/even_odd_system.hpp"
#include "solvers/multigrid/site_matrices.hpp"
#include "solvers/multigrid/transfer.hpp"

namespace quarksmith {

/// P^+ M P with a matrix for each site and each of its eight neighbours. M is a LinearOperator of which nothing else is
/// known: it is applied to P e, e a unit vector on all blocks, with signs that alternate in none of the directions or
/// in one. What reaches a block from its neighbour in a direction is half of a difference of two, and comes from the
/// next block in one half of it and from the one before in the other.
class CoarseOperator final : public LinearOperator, public EvenOddSystem {
 public:
  /// \param fine only read here. \param rhs right-hand sides at most of the even-odd form.
  /// \param packed matrices are stored in 16 bits.
  /// \throws UsageError M couples blocks that do not touch: a random vector is not mapped as by P^+ M P.
  CoarseOperator(const Transfer& transfer, const LinearOperator& fine, int rhs, bool packed = false);
  ~CoarseOperator() override;

  /// Work space of the even-odd form.
  void reserve(int rhs);
  /// \throws UsageError the conjugate is asked for.
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return domain_; }
  const PrecisionInfo& precision() const override { return *precision_; }
  int slices() const override { return slices_; }
  double flops() const override;
  /// Of all matrices, and of a field that is read and one that is written.
  double bytes(int rhs) const;

  const LinearOperator& full() const override { return *this; }
  /// 1 - X_ee^-1 C_eo X_oo^-1 C_oe, X the matrices of the sites themselves.
  const LinearOperator& reduced() const override;
  void prepare(SpinorField& reduced, const SpinorField& b) const override;
  void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const override;

 private:
  class Reduced;

  void probe(const Transfer& transfer, const LinearOperator& fine);
  void invert();
  void verify(const Transfer& transfer, const LinearOperator& fine, double limit) const;

  SpinorField half(Subset subset, int rhs) const { return {domain_, *precision_, subset, rhs, {}, slices_}; }

  DomainPointer domain_;
  const PrecisionInfo* precision_;
  int slices_, rows_;
  std::array<SiteMatrices, 2> hops_, own_, inverse_;
  mutable SpinorField even_, odd_, other_;
  std::unique_ptr<Reduced> reduced_;
};

}  // namespace quarksmith
