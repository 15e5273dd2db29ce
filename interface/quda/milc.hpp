/// \file
/// Arrays of MILC: all even sites, then all odd ones, x fastest.
#pragma once

#include <quda_milc_interface.h>

#include "interface/quda/state.hpp"

namespace quarksmith::quda {

/// QUARKSMITH_SINGLE or _DOUBLE of 1 or 2. Others are refused; `name` is the parameter's.
int milc_precision(const char* name, int precision);
/// \param phases the links hold eta, t first. A sign of the boundary is found where links are SU(3).
quarksmith_link_format milc_links(int precision, bool phases);
/// The option `precision` of solvers: true residuals are in double whatever quda_precision asks for.
const char* milc_inner_precision(int quda_precision, int mixed_precision);
/// MILC's arrays in QUDA's words. Links are taken as they are, with their phases.
QudaGaugeParam of_milc(int precision);
/// Those of links or momenta, which may be in the struct of a site.
QudaGaugeParam of_milc(int precision, const QudaMILCSiteArg_t& arg);

}  // namespace quarksmith::quda
