/// \file
/// Forces of a run against differences of its actions.
#pragma once

#include "python/objects.hpp"

namespace quarksmith::python {

void bind_forces(nb::module_& m);

}  // namespace quarksmith::python
