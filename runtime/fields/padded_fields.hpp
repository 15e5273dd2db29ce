/// \file
/// Fields on padded lattices that expressions need in addition to their arguments.
#pragma once

#include <array>

#include "runtime/fields/field.hpp"
#include "runtime/ranks/padded_lattice.hpp"

namespace quarksmith {

/// Temporary field number `n` on the padded lattice, of the kind of `like`; kept for the next call.
SpinorField& scratch_in(const PaddedLattice& padded, std::size_t n, const SpinorField& like);
/// Unit matrices times the boundary phase of fermions at sites of the halo beyond an end of the whole lattice, in
/// direction 0 of a link field; null if there are no such sites, or all phases are 1.
const LinkField* border_phases(const PaddedLattice& padded, const std::array<Complex64, directions>& boundary,
                               const PrecisionInfo& precision, int colours);

}  // namespace quarksmith
