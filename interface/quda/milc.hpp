/// \file
/// Arrays of MILC: all even sites, then all odd ones, x fastest.
#pragma once

#include "interface/quda/state.hpp"

namespace quarksmith::quda {

/// QUARKSMITH_SINGLE or _DOUBLE of 1 or 2. Others are refused; `name` is the parameter's.
int milc_precision(const char* name, int precision);
/// \param phases the links hold eta, t first. A sign of the boundary is found where links are SU(3).
quarksmith_link_format milc_links(int precision, bool phases);
/// The option `precision` of solvers: true residuals are in double whatever quda_precision asks for.
const char* milc_inner_precision(int quda_precision, int mixed_precision);

}  // namespace quarksmith::quda
