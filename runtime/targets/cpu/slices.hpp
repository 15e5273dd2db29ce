/// \file
/// What the host's processors do with numbers of sites by time slices: SiteOperations::largest_in_slices,
/// sums_over_slices.
#pragma once

#include <vector>

#include "runtime/lattice/lattice.hpp"
#include "runtime/kernels/stored_sites.hpp"

namespace quarksmith::cpu {

std::vector<double> largest_in_slices(const SliceNumbers& numbers);
std::vector<double> sums_over_slices(const SliceNumbers& numbers, const std::vector<SumUnits>& units,
                                     const double* phases, int momenta);

}  // namespace quarksmith::cpu
