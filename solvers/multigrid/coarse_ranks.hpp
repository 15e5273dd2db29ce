/// \file
/// Coarse lattices on several ranks: parts of them, or the whole on each rank.
#pragma once

#include <memory>
#include <vector>

#include "runtime/ranks/bordered.hpp"

namespace quarksmith {

/// What becomes of parts of a coarse lattice.
enum class Parts {
  kept,     ///< they stay on the ranks of the finer one
  gathered  ///< where a part would have an odd extent, or a direct solve serves the whole, each rank has all of it
};

/// Why such blocks do not cut a lattice into one of even extents, inside of each rank; empty if they do.
std::string misfit_of(const Coordinates& block, const Lattice& fine);
/// The lattice of blocks: a part of it, or the whole. \param vectors near-null vectors.
/// \throws UsageError they do not cut the lattice into one of even extents.
Lattice blocks_of(const Lattice& fine, const Coordinates& block, int vectors, Parts parts);

/// The site to which a displacement by -1, 0 or 1 in each direction leads.
long long neighbour_at(const Lattice& lattice, long long site, const Coordinates& step);
/// How many directions it has.
int directions_of(const Coordinates& step);

/// Fields on some sites of a part of a coarse lattice, with the sites of other ranks that touch it.
class CoarseBorder {
 public:
  /// \param like a field on all sites of the part. \param subset of the sites. \param corners sites that touch it at
  /// an edge or a corner alone are there, too.
  CoarseBorder(const SpinorField& like, Subset subset, bool corners);

  /// The part with its border, as a lattice of its own.
  const DomainPointer& domain() const { return part_.domain(); }
  /// Number there of a neighbour of a site of the part.
  long long neighbour(long long site, const Coordinates& step) const;
  /// Room for so many right-hand sides. Collective, as `read` is.
  void reserve(int rhs) const;
  /// A copy of `in` with its border, until the next one.
  SpinorField read(const SpinorField& in) const;

 private:
  DomainPointer domain_;
  Subset subset_;
  BorderedPart part_;
  mutable SpinorField copy_;
};

/// Fields on a whole lattice that each rank holds and of which each has made some sites.
class Gathering {
 public:
  /// \param whole such a field. \param mine lexicographic numbers of the sites that this rank makes: as many on each.
  Gathering(const SpinorField& whole, std::shared_ptr<Communicator> ranks, const std::vector<long long>& mine);

  /// Room for so many right-hand sides of a field like that.
  void reserve(int rhs) const;
  /// The sites that other ranks have made. Collective.
  void complete(SpinorField& field) const;

 private:
  DomainPointer domain_;
  std::shared_ptr<Communicator> ranks_;
  int count_;
  StoredSites one_;             ///< a right-hand side of such a field
  Memory pack_;                 ///< from sites made here to their numbers
  std::vector<Memory> unpack_;  ///< from the numbers of sites of each rank to these
  mutable Memory leaving_, all_;
  mutable std::shared_ptr<void> host_;  ///< of GPUs: what leaves, then all that arrives
};

}  // namespace quarksmith
