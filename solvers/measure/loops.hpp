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

/// Means over sites of tr/3 of the products of links along paths that begin and end there: steps 0 to 3 are forward
/// along x to t, 7 to 4 backward. Collective.
/// \throws UsageError a path goes along all four directions.
std::vector<Complex64> path_traces(const LinkField& links, const std::vector<std::vector<int>>& paths);

/// [r]: mean over the directions of space and x of Re P(x) P(x + r)^*, P = tr/3 of the product of links round the
/// lattice in time, for r from 0 on. Collective.
std::vector<double> polyakov_correlator(const LinkField& links, int most_space);

}  // namespace quarksmith
