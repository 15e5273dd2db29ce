/// \file
/// Averages of a gauge field without a device.
#pragma once

#include "runtime/fields/gauge.hpp"

namespace quarksmith {

/// As gauge_averages, but on the host, and with the same bits on every grid of ranks: for numbers that go into files.
/// Collective.
/// \throws UsageError the lattice is not spread over these ranks.
GaugeAverages host_averages(const HostGauge& gauge, Communicator& communicator);

}  // namespace quarksmith
