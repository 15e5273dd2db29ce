/// \file
/// Derivatives by fat and long links taken back to the thin links that they are made of (docs/forces.md).
#pragma once

#include "solvers/actions/staggered.hpp"
#include "solvers/hmc/links.hpp"

namespace quarksmith {

/// p += dP/dtau, given half the derivatives of the action by the fat and the long links of asqtad or HISQ quarks.
/// \param u the thin links. \param links for fields.
void add_improved_force(const EvolvingLinks& links, const LinkField& u, const StaggeredParameters& action,
                        const LinkField& by_fat, const LinkField& by_long, LinkField& p);

}  // namespace quarksmith
