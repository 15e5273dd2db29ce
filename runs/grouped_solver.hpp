/// \file
/// Solves by groups of ranks, each for some of the right-hand sides.
#pragma once

#include "runs/kept_solver.hpp"

namespace quarksmith::runs {

/// A solver for an action on a gauge field: of all ranks together, or with `split` of groups of them. Collective.
/// Parameters as of KeptSolver.
std::unique_ptr<KeptSolver> make_solver(const InversionDescription& description, const NamedGauge& named,
                                        const DomainPointer& domain, bool begins, Session& session,
                                        std::shared_ptr<const NearNullVectors> near_null = nullptr);

}  // namespace quarksmith::runs
