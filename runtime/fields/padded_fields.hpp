/// \file
/// Fields in the box of a part that expressions need beside those of a call.
#pragma once

#include <array>

#include "runtime/fields/field.hpp"
#include "runtime/ranks/padded_lattice.hpp"

namespace quarksmith {

/// Field number `n` of the box of the kind of another: kept for the next call.
SpinorField& scratch_in(const PaddedLattice& padded, std::size_t n, const SpinorField& like);
/// The colour matrices 1, and in the border beyond an end of the whole lattice 1 times the phase that a fermion takes
/// up on the way there, in direction 0 of all links; null if no part of the border lies there or all phases are 1.
const LinkField* border_phases(const PaddedLattice& padded, const std::array<Complex64, directions>& boundary,
                               const PrecisionInfo& precision, int colours);

}  // namespace quarksmith
