/// \file
/// Baryons from the terms of their two-point functions.
#pragma once

#include <span>

#include "solvers/measure/interpolators.hpp"
#include "solvers/measure/momenta.hpp"
#include "solvers/measure/quark_columns.hpp"

namespace quarksmith {

/// sum_x exp(i p.(x - x0)) of each two-point function, in the order of momentum_sums. \param lines the propagator of
/// each line. Whatever products occur in several of them are computed once. Collective; all ranks get the same numbers.
std::vector<Complex64> baryon_sums(std::span<const Propagator* const> lines, std::span<const BaryonTerms> baryons,
                                   const MomentumPhases& phases, Communicator& communicator = *Communicator::self());

}  // namespace quarksmith
