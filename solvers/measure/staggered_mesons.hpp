/// \file
/// Propagators of staggered quarks on the host and the correlators of the Goldstone pion.
#pragma once

#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// S(x; source): at each site three columns, the solutions for the colours of the source.
struct StaggeredPropagator {
  using Column = std::array<Complex64, 3>;
  Lattice lattice;
  std::vector<std::array<Column, 3>> site;  ///< site[x][source colour][sink colour]
  explicit StaggeredPropagator(const Lattice& l) : lattice(l), site(static_cast<std::size_t>(l.sites())) {}
  /// Takes the solution for a source colour: the first colour vector of each site.
  void set_column(int colour, const HostSpinor& solution);
};

/// C(t) = sum_x sum_colours conj(A) B, t counted from `source_t` over the whole lattice: the Goldstone pion of quarks A
/// and B, whose phases cancel (G. W. Kilcup and S. R. Sharpe, Nucl. Phys. B 283 (1987) 493); real for A = B. For M = 2m
/// + D there is no other factor. Collective; all ranks get the same numbers.
std::vector<Complex64> goldstone_correlator(const StaggeredPropagator& a, const StaggeredPropagator& b, int source_t,
                                            Communicator& communicator = *Communicator::self());

}  // namespace quarksmith
