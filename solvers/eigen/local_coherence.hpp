/// \file
/// Compression of eigenvectors: on each block they are combinations of a few of them.
#pragma once

#include "solvers/multigrid/transfer.hpp"

namespace quarksmith {

/// Low modes are locally coherent (M. Luescher, JHEP 07 (2007) 081): the first few of them, restricted to blocks,
/// nearly span the others. Kept are (M. A. Clark, C. Jung and C. Lehner, arXiv:1710.06884) an orthonormal basis of
/// these on each block, for each chirality, and the coefficients of all vectors.
class LocalCoherence {
 public:
  /// \param full M on all sites, in double. \param vectors of the basis.
  /// \throws UsageError the blocks do not divide the lattice, or have fewer dimensions than `vectors`.
  LocalCoherence(const LinearOperator& full, const BasisInfo& basis, const Coordinates& block, int vectors);

  /// Makes the basis from the first of these vectors, and the coefficients of the Ritz vectors of A in the space of
  /// `count` of them, projected on the basis. \param a Hermitian, in double. \return the Ritz values, ascending.
  std::vector<double> compress(const SpinorField& v, int count, const LinearOperator& a);
  /// All vectors in fields like `like`, with memory for multiples of four (BlockBlas).
  SpinorField expand(const SpinorField& like) const;

  /// Vectors for a file, from which the same basis can be made again.
  SpinorField basis_vectors(const SpinorField& like) const;
  void take_basis(const SpinorField& v);
  /// Coefficients for a file, in the form of a vector: number `column` of columns_of().
  std::vector<HostSpinor> coefficients(int column) const;
  void take_coefficients(int column, int count, const std::vector<HostSpinor>& slices);
  /// Columns that the coefficients of `count` vectors take.
  int columns_of(int count) const { return (count + per_column_ - 1) / per_column_; }

  int vectors() const { return transfer_.vectors(); }
  const Coordinates& block() const { return transfer_.block(); }

 private:
  using Numbers = std::vector<Complex64>;  ///< of a coarse vector, block by block
  SpinorField on_all_sites(const SpinorField& v) const;
  void from_all_sites(SpinorField& v, const SpinorField& full) const;
  template <class Visit>
  void visit(int column, int count, const Visit& visit) const;

  Transfer transfer_;
  Lattice lattice_;
  int slices_, of_block_, per_column_;  ///< coefficients of a block; vectors whose coefficients a column holds
  std::vector<Numbers> coefficients_;
};

}  // namespace quarksmith
