/// \file
/// Numbers of fields in arrays of other libraries, in the order of lexicographic().
#pragma once

#include "python/objects.hpp"

namespace quarksmith::python {

/// `(8, 4, 4)`
std::string tuple_text(const auto& shape) {
  std::string text;
  for (const auto n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

// Of GaugeObject, MomentumObject and SpinorObject.

/// A copy of the numbers, in `out` if that is not None. \throws UsageError as require_fits.
template <class Object>
nb::object lexicographic(const Object& object, nb::handle out);
/// \throws UsageError the numbers cannot be written to this array.
template <class Object>
void require_fits(const Object& object, nb::handle out);
/// Takes the numbers of an array. \throws UsageError it has another shape, or is in memory of another device.
template <class Object>
void assign(Object& object, nb::handle given);

}  // namespace quarksmith::python
