/// \file
/// Common part of the rehearsals of solves (runtime/rehearsal.hpp).
#pragma once

#include <initializer_list>

#include "runtime/rehearsal.hpp"
#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// A small lattice of this rank alone, on the same device.
inline DomainPointer few_sites(const Domain& like) {
  const int extent = like.reach() > 1 ? 8 : 4;
  return std::make_shared<Domain>(Lattice({extent, extent, extent, extent}), like.device_pointer(),
                                  Communicator::self(), like.reach());
}

/// Takes fields of an operator in double to other precisions and back.
inline void convert_both_ways(const LinearOperator& a, std::initializer_list<const PrecisionInfo*> precisions) {
  const PrecisionInfo& high = find_precision("double");
  for (const PrecisionInfo* precision : precisions) {
    if (precision == &high) continue;
    SpinorField in_double = a.field(1, high), other = a.field(1, *precision);
    convert(in_double, other);
    convert(other, in_double);
  }
}

}  // namespace quarksmith
