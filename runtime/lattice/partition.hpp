/// \file
/// How a lattice is spread over ranks.
#pragma once

#include <memory>
#include <optional>

#include "runtime/communicator.hpp"
#include "runtime/lattice/lattice.hpp"

namespace quarksmith {

/// The ranks that share lattices, and the grid in which they do.
struct Partition {
  std::shared_ptr<Communicator> communicator = Communicator::self();
  std::optional<Coordinates> grid;  ///< not given: the one with the smallest boundaries is chosen

  /// The part of a lattice that this rank holds.
  /// \throws WrongLattice the grid does not fit the lattice; UsageError it does not have as many parts as there are
  /// ranks.
  Lattice part(const Coordinates& global_extent) const;
};

/// The grid of so many parts of even extents with the fewest boundary sites; of equal ones that which cuts the slower
/// directions.
/// \throws WrongLattice there is none.
Coordinates choose_grid(const Coordinates& global_extent, int parts);

/// For what all ranks of a lattice must do together.
/// \throws UsageError the lattice has not as many parts as there are ranks.
void require_spread(const Lattice& lattice, const Communicator& communicator);

}  // namespace quarksmith
