/// \file
/// Forces on stout links taken back to the links that they are made of (docs/forces.md).
#pragma once

#include "solvers/hmc/links.hpp"

namespace quarksmith {

/// dP/dtau by the links u of a step of stout smearing, given that by its result (hep-lat/0311018).
/// \param links for fields. \param force at the links after the step, anti-Hermitian and traceless.
LinkField stout_force(const EvolvingLinks& links, const LinkField& u, const StoutLinks& stout, const LinkField& force);

}  // namespace quarksmith
