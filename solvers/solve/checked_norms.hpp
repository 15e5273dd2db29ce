/// \file
/// Checks of right-hand sides before the first iteration.
#pragma once

#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Norm |b| of each right-hand side. A zero one is refused as well: it comes from an empty source, or one whose
/// smearing has vanished.
/// \throws BadData a norm is zero, not finite, or so large or small that a double cannot hold its square.
std::vector<double> checked_norms(const SpinorField& b);

}  // namespace quarksmith
