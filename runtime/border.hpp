/// \file
/// A part of a lattice with the sites round it, for what walks several steps and runs once.
#pragma once

#include "runtime/field.hpp"

namespace quarksmith {

/// A part and `width` sites of its neighbours on both sides of each direction that is split, and perhaps unused sites
/// behind them: as a lattice of its own, on which kernels run without other ranks. The width is even, so that parities
/// are those of the part; what they compute is right where no step leaves the border.
class Border {
 public:
  static constexpr int width = 2;
  /// \throws WrongLattice the box has more than 2^31 - 1 sites.
  explicit Border(const Lattice& part);

  const Lattice& part() const { return part_; }
  const Lattice& box() const { return box_; }
  /// Sites by which the part is moved within the box.
  int offset(int mu) const { return part_.split(mu) ? width : 0; }
  /// Coordinates and number in the box of a site of the part.
  Coordinates inside(Coordinates x) const;
  long long inside(long long site) const { return box_.index(inside(part_.coordinates(site))); }

 private:
  Lattice part_, box_;
};

/// The links of the box: those of the neighbours come from their ranks, corners included.
/// \throws UsageError the lattice is not spread over these ranks.
HostGauge with_border(const HostGauge& gauge, Communicator& communicator);
/// The part of links that were made on its box.
HostGauge without_border(const HostGauge& box, const Lattice& part);
/// The part of a double term that was made on its box.
TermField without_border(const TermField& from, const DomainPointer& part);

}  // namespace quarksmith
