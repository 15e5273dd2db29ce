/// \file
/// What every solver asks of a right-hand side before its first iteration.
#pragma once

#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// |b| of each right-hand side. A zero right-hand side is refused as well: its solution is known, and what comes as
/// zero is an empty source, or one whose smearing has vanished, which no caller means. \throws BadData a norm is zero,
/// not finite, or of a size whose squares a double cannot hold.
std::vector<double> usable_norms(const SpinorField& b);

}  // namespace quarksmith
