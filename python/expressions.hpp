/// \file
/// Lattice expressions on fields of Python, and kernels that are compiled for them in this process.
#pragma once

#include "python/objects.hpp"

namespace quarksmith::python {

void bind_expressions(nb::module_& m);

}  // namespace quarksmith::python
