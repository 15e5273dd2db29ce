/// \file
/// The order in which GPUs work on the sites of a large lattice.
#pragma once

#include "runtime/kernels/arguments.hpp"

namespace quarksmith {

/// The place (t slowest, then z) of number `index` in an order by slabs of z, each for all t before the next.
/// \param plane places of one z and t. \param depth z of a slab; it divides z.
QUARKSMITH_ANYWHERE int in_slabs(int index, int plane, int z, int t, int depth) {
  const int slice = plane * depth, slab = index / (slice * t), inside = index - slab * slice * t, time = inside / slice;
  return (time * z + slab * depth) * plane + inside - time * slice;
}

/// Depth of the slabs for a kernel that reads much of each neighbour, even; 0: slices of t. Three slices of t of four
/// links a site, or of many right-hand sides, are more than a second cache holds, three of a slab are not; each slab
/// reads two planes of its neighbours again. Of 2, 4, 8 and 16 planes at 32^3x64 eight are the best or within 2 % of
/// it.
inline int slab_depth(const Geometry& g) {
  constexpr int sites = 8 * 32 * 32, least = 4, most = 8;
  const int plane = g.extent[0] * g.extent[1], wanted = sites / plane / 2 * 2;
  const int depth = wanted < least ? least : wanted > most ? most : wanted;
  for (int d = depth; d <= 2 * depth && 2 * d <= g.extent[2]; d += 2)
    if (g.extent[2] % d == 0) return d;
  return 0;
}

}  // namespace quarksmith
