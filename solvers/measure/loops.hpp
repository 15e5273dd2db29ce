/// \file
/// Wilson and Polyakov loops.
#pragma once

#include <functional>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// loops[r - 1][t - 1]: mean over sites and the directions of space of Re tr/3 of loops of r x t sites.
/// \param spatial links of the sides in space; the other links are for those in time; both with all reals. \param look
/// called from time to time; may throw to end the measurement. Collective.
std::vector<std::vector<double>> wilson_loops(
    const LinkField& spatial, const LinkField& temporal, int most_space, int most_time,
    const std::function<void()>& look = [] {});

/// loops[t - 1]: the same of sides in space from x to x + mu + nu and x + mu - nu, first along mu: the mean over all
/// ordered pairs of directions and both signs. Collective.
std::vector<double> diagonal_loops(
    const LinkField& spatial, const LinkField& temporal, int most_time, const std::function<void()>& look = [] {});

/// Means of tr/3 of the products of links round the lattice in each direction. Collective.
std::vector<Complex64> polyakov_loops(const LinkField& links);

/// [r]: mean over the directions of space and x of Re P(x) P(x + r)^*, P = tr/3 of the product of links round the
/// lattice in time, for r from 0 on. Collective.
std::vector<double> polyakov_correlator(const LinkField& links, int most_space);

}  // namespace quarksmith
