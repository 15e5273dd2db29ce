/// \file
/// Between a lattice and that of its blocks.
#pragma once

#include "solvers/krylov/linear_operator.hpp"
#include "solvers/multigrid/places.hpp"

namespace quarksmith {

/// Prolongation P and restriction P^+, by near-null vectors that are orthonormal on each block, each chirality by
/// itself (M. Luescher, JHEP 07 (2007) 081; R. Babich et al., Phys. Rev. Lett. 105 (2010) 201602). gamma_5 of a coarse
/// vector is that of its slices in the basis of files: P commutes with it.
class Transfer {
 public:
  /// \param fine the operator of the finer level. \param basis of its spinors.
  /// \param vectors near-null vectors, a multiple of 6.
  /// \throws UsageError blocks do not divide the lattice into a coarse one of even extents; the number of vectors.
  Transfer(const LinearOperator& fine, const BasisInfo& basis, const Coordinates& block, int vectors);

  /// P of these near-null vectors, which are the right-hand sides of `v`.
  void keep(const SpinorField& v);
  /// P coarse, P^+ fine, for any number of right-hand sides.
  void prolong(SpinorField& fine, const SpinorField& coarse) const;
  void restrict_to(SpinorField& coarse, const SpinorField& fine) const;

  int vectors() const { return vectors_; }
  const Coordinates& block() const { return block_; }
  const PrecisionInfo& precision() const { return *precision_; }
  const DomainPointer& coarse_domain() const { return coarse_; }
  int coarse_slices() const { return vectors_ / chiral_numbers; }
  SpinorField coarse_field(int rhs) const { return {coarse_, *precision_, Subset::full, rhs, {}, coarse_slices()}; }
  SpinorField fine_field(int rhs) const { return {fine_, *precision_, Subset::full, rhs, {}, slices_}; }

 private:
  void run(const Kernel& kernel, const SpinorField& out, const SpinorField& in, long long items, int columns) const;
  void copy_vectors(const SpinorField& v);
  bool orthonormalise(SpinorField& work);

  DomainPointer fine_, coarse_;
  const PrecisionInfo* precision_;
  Coordinates block_;
  int vectors_, slices_, block_sites_, tiles_;
  const Kernel *keep_, *restrict_, *prolong_;
  Memory fine_first_, coarse_first_, panel_, record_;
};

}  // namespace quarksmith
