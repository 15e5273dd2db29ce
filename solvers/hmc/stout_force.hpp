/// \file
/// Forces on stout links taken back to the links that they are made of (docs/forces.md).
#pragma once

#include "solvers/hmc/links.hpp"

namespace quarksmith {

/// dP/dtau by the links of a step of stout smearing, in place of that by its result (hep-lat/0311018).
/// \param links for fields. \param thin before the step. \param force anti-Hermitian and traceless.
void stout_force(const EvolvingLinks& links, const LinkField& thin, const StoutLinks& stout, const LinkField& force);

}  // namespace quarksmith
