/// \file
/// Fields of noise.
#pragma once

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Noise in all right-hand sides of a field of any level, the first of which has number `counter`.
/// \param basis of its spinors.
void draw(SpinorField& v, const BasisInfo& basis, unsigned long long counter);

}  // namespace quarksmith
