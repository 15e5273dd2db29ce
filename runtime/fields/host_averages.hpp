/// \file
/// Averages of a gauge field without a device.
#pragma once

#include "runtime/fields/gauge.hpp"

namespace quarksmith {

/// Whether boundary phases multiply the links, as they do in files. Plaquettes are the same with them.
enum class Phases { leave_out, count };

/// As gauge_averages, but on the host, and with the same bits on every grid of ranks: for numbers that go into files.
/// Collective.
/// \throws UsageError the lattice is not spread over these ranks.
GaugeAverages host_averages(const HostGauge& gauge, Communicator& communicator, Phases phases = Phases::leave_out);

}  // namespace quarksmith
