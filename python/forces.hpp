/// \file
/// Comparison of the forces of a run with differences of its actions.
#pragma once

#include "python/objects.hpp"

namespace quarksmith::python {

void bind_forces(nb::module_& m);

}  // namespace quarksmith::python
