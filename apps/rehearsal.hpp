/// \file
/// Work on a lattice of few sites before the work itself: what the build lacks for it is told and compiled at once.
#pragma once

#include <functional>

#include "runtime/fields/field.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith::apps {

/// Calls `work`, which looks up every kernel that a run needs, on a lattice of few sites (gather_kernels).
/// \param like links of the run, of which the first ones fill that lattice. \param domain of the run.
/// \throws MissingKernel kernels are missing and cannot be compiled. Other errors are for the run itself to meet.
void rehearse(const HostGauge& like, const Domain& domain,
              const std::function<void(const HostGauge& gauge, const DomainPointer& domain)>& work);

}  // namespace quarksmith::apps
