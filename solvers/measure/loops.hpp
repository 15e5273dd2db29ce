/// \file
/// Wilson and Polyakov loops.
#pragma once

#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// loops[r - 1][t - 1]: mean over sites and the directions of space of Re tr/3 of loops of r x t sites.
/// \param spatial links of the sides in space, others for those in time; with all reals. Collective.
std::vector<std::vector<double>> wilson_loops(const LinkField& spatial, const LinkField& temporal, int most_space,
                                              int most_time);

/// Means of tr/3 of the products of links round the lattice in each direction. Collective.
std::vector<Complex64> polyakov_loops(const LinkField& links);

}  // namespace quarksmith
