/// \file
/// Coarse lattices on several ranks: divided, or whole on each rank.
#pragma once

#include <memory>
#include <vector>

#include "runtime/fields/field.hpp"
#include "runtime/ranks/padded_lattice.hpp"

namespace quarksmith {

/// Distribution of a coarse lattice over ranks.
enum class Parts {
  kept,     ///< divided like the finer one
  gathered  ///< each rank has the whole lattice, if local extents would be odd, or for a direct solve
};

/// Why blocks do not divide the local lattice into one of even extents; empty if they do.
std::string misfit_of(const Coordinates& block, const Lattice& fine);
/// The lattice of blocks, divided among ranks or whole. \param vectors near-null vectors.
/// \throws UsageError blocks do not divide the lattice into one of even extents.
Lattice blocks_of(const Lattice& fine, const Coordinates& block, int vectors, Parts parts);

/// The site to which a displacement by -1, 0 or 1 in each direction leads.
long long neighbour_at(const Lattice& lattice, long long site, const Coordinates& step);
/// Number of directions in which a displacement is not 0.
int directions_of(const Coordinates& step);

/// Copies of fields on a local coarse lattice with their halo: the neighbouring sites of other ranks.
class CoarseBorder {
 public:
  /// \param like a field on all local sites.
  /// \param subset sites of the fields.
  /// \param corners the halo includes sites that touch the lattice at an edge or a corner only.
  CoarseBorder(const SpinorField& like, Subset subset, bool corners);

  /// The padded lattice.
  const DomainPointer& domain() const { return padded_.domain(); }
  /// Number on the padded lattice of a neighbour of a local site.
  long long neighbour(long long site, const Coordinates& step) const;
  /// Makes room for `rhs` right-hand sides. Collective, like `read`.
  void reserve(int rhs) const;
  /// A copy of `in` with its halo, valid until the next call.
  SpinorField read(const SpinorField& in) const;

 private:
  DomainPointer domain_;
  Subset subset_;
  PaddedLattice padded_;
  mutable SpinorField copy_;
};

/// Fields on a coarse lattice that each rank holds whole, completed by an all-gather of the sites that each has
/// computed.
class Gathering {
 public:
  /// \param whole such a field. \param mine lexicographic numbers of the sites that this rank computes; their number is
  /// the same on all ranks.
  Gathering(const SpinorField& whole, std::shared_ptr<Communicator> ranks, const std::vector<long long>& mine);

  /// Allocates memory for `rhs` right-hand sides of such a field.
  void reserve(int rhs) const;
  /// Gathers the sites that other ranks have computed. Collective.
  void complete(SpinorField& field) const;

 private:
  DomainPointer domain_;
  std::shared_ptr<Communicator> ranks_;
  int count_;
  StoredSites one_;             ///< layout of a right-hand side of such a field
  Memory pack_;                 ///< from sites made here to their numbers
  std::vector<Memory> unpack_;  ///< from the numbers of sites of each rank to these
  mutable Memory leaving_, all_;
  mutable std::shared_ptr<void> host_;  ///< GPUs: host memory for data that is sent, then for all that is received
};

}  // namespace quarksmith
