/// \file
/// The ranks that take part in calls.
#pragma once

#include <nanobind/nanobind.h>

#include "runtime/fields/field.hpp"

namespace quarksmith::python {

/// The ranks that were started with this process, or those of the communicator that was chosen. The first call joins
/// them.
Communicator& ranks();
/// \throws UsageError a field belongs to other ranks than those of present calls. \param name of the field.
void require_present(const Domain& domain, const char* name);

void bind_ranks(nanobind::module_& m);

}  // namespace quarksmith::python
