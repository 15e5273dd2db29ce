/// \file
/// Forces of actions with long paths of links, computed along the paths, one link at a time
/// (generator/operators/path_steps.py).
#pragma once

#include "runtime/action_info.hpp"
#include "runtime/fields/expression.hpp"

namespace quarksmith {

/// p += weight dP/dtau of -2 Re chi^+ M psi, summed over right-hand sides, for an action with paths. Allocates a field
/// for each of ActionInfo::path_ends and some more.
void add_path_force(const ActionInfo& action, const LinkField& u, const SpinorField& psi, const SpinorField& chi,
                    double weight, LinkField& p, const ExpressionSettings& settings);

}  // namespace quarksmith
