/// \file
/// Division of a lattice among ranks.
#pragma once

#include <memory>
#include <optional>

#include "runtime/communicator.hpp"
#include "runtime/lattice/lattice.hpp"

namespace quarksmith {

/// The ranks that share lattices, and their grid.
struct Partition {
  std::shared_ptr<Communicator> communicator = Communicator::self();
  std::optional<Coordinates> grid;        ///< not given: the one with the smallest boundaries is chosen
  std::optional<Lattice> preferred = {};  ///< without `grid`: what a lattice of its global extents is divided into

  /// The local lattice of this rank.
  /// \throws WrongLattice the grid does not fit the lattice.
  /// \throws UsageError the grid does not have as many cells as there are ranks.
  Lattice local_lattice(const Coordinates& global_extent) const;
};

/// The grid of ranks with local lattices of even extents and the fewest boundary sites; among equal ones the grid that
/// cuts the slower directions.
/// \throws WrongLattice there is none.
Coordinates choose_grid(const Coordinates& global_extent, int count);

/// Checks a lattice before collective work on it.
/// \throws UsageError it is not divided among as many ranks as there are.
void require_spread(const Lattice& lattice, const Communicator& communicator);

}  // namespace quarksmith
