/// \file
/// Copies between fields and arrays of other codes.
#pragma once

#include "runtime/fields/field.hpp"
#include "runtime/fields/link_field.hpp"
#include "runtime/kernels/spinor_array.hpp"

namespace quarksmith {

/// Copies an array, in memory that the device reaches, to a right-hand side of a field of doubles in four dimensions,
/// or back. The device may still be at it when this returns.
void copy_array(const SpinorArray& array, SpinorField& to, int rhs);
void copy_array(const SpinorField& from, int rhs, const SpinorArray& array);

/// The same of an array of matrices, and those of direction mu of a field of doubles with all their reals.
void copy_array(const SpinorArray& array, LinkField& to, int mu);
void copy_array(const LinkField& from, int mu, const SpinorArray& array);
/// Makes all links of a field of doubles with all reals 1, on the device.
void set_unit(LinkField& links);

}  // namespace quarksmith
