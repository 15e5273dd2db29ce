/// \file
/// Derivatives by fat and long links taken back to the thin links that they are made of (docs/forces.md).
#pragma once

#include "solvers/actions/improved_links.hpp"
#include "solvers/hmc/links.hpp"

namespace quarksmith {

/// p += dP/dtau, given half the derivatives of the action by the fat and the long links of an action
/// whose statement makes these from thin links (ActionInfo::link_stages).
/// \param store the thin links. \param links for fields.
/// \return links whose projection on U(3) is damped: those with small eigenvalues.
long long add_improved_force(const EvolvingLinks& links, const LinkStore& store, const ActionValues& action,
                             const LinkField& by_fat, const LinkField& by_long, LinkField& p);

}  // namespace quarksmith
