/// \file
/// The ranks that calls are of.
#pragma once

#include <nanobind/nanobind.h>

#include "runtime/fields/field.hpp"

namespace quarksmith::python {

/// Those that were started with this process, or of the communicator that was chosen. The first call joins them.
Communicator& ranks();
/// \throws UsageError a field is of other ranks than calls are now. \param name of the field.
void require_present(const Domain& domain, const char* name);

void bind_ranks(nanobind::module_& m);

}  // namespace quarksmith::python
