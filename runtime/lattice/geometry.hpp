/// \file
/// The Geometry record of a lattice cut into lanes. Host code, used by runtime/lattice/lattice.cpp and by exported
/// kernels.
#pragma once

#include "runtime/kernels/arguments.hpp"

namespace quarksmith {

/// Direction to halve next: the longest whose half is still even; the slower one of equals. -1 if there is none, or if
/// the half would be shorter than `reach`.
inline int next_halving(const int* extent, int reach) {
  int best = -1;
  for (int mu = directions - 1; mu >= 0; --mu)
    if (extent[mu] % 4 == 0 && (best < 0 || extent[mu] > extent[best])) best = mu;
  return best >= 0 && extent[best] / 2 >= reach ? best : -1;
}

/// Multiplier and shift that divide by d (Granlund and Montgomery, PLDI 1994, section 4).
inline Divisor make_divisor(int d) {
  int bits = 0;
  while ((1ll << bits) < d) ++bits;
  const unsigned long long one = 1ull << (31 + bits);
  return {static_cast<unsigned>(one / d + 1), 31 + bits};
}

/// Coordinate along mu of a lane's sub-lattice among all.
inline int coordinate_of_lane(const Geometry& g, int lane, int mu) {
  int coordinate = 0;
  for (int bit = 0; bit < g.lane_bits; ++bit)
    if (g.lane_direction[bit] == mu) coordinate = 2 * coordinate + ((lane >> bit) & 1);
  return coordinate;
}

/// The lane whose coordinate along mu is `coordinate`, others as in `lane`.
inline int lane_at(const Geometry& g, int lane, int mu, int coordinate) {
  for (int bit = g.lane_bits - 1; bit >= 0; --bit) {
    if (g.lane_direction[bit] != mu) continue;
    lane = (lane & ~(1 << bit)) | ((coordinate & 1) << bit);
    coordinate /= 2;
  }
  return lane;
}

/// The lattice in boxes of even extents, one for each lane, each halving the longest direction, none shorter than
/// `reach` where it was cut. If it cannot be cut that often, the lanes of the first boxes are repeated: all copies of a
/// site always hold the same, and count once. The halvings for 2^k lanes are the first k of those for more lanes.
/// `tables` is filled, and must outlive the result.
inline Geometry make_geometry(const int* lattice, int lanes, LaneTables& tables, int reach = 1) {
  Geometry g{};
  int extent[directions], rest[directions];
  for (int mu = 0; mu < directions; ++mu) {
    extent[mu] = rest[mu] = lattice[mu];
    g.split[mu] = 1;
  }
  g.lanes = lanes;
  // All halvings are recorded, those beyond `lanes` for fields that are stored with more lanes
  // (runtime/kernels/site.hpp: locate).
  for (int bit = 0; (1 << bit) < max_lanes; ++bit) {
    const int mu = next_halving(rest, reach);
    g.lane_direction[bit] = mu;
    if (mu < 0) continue;
    rest[mu] /= 2;
    if ((1 << bit) < lanes) {
      extent[mu] /= 2;
      g.split[mu] *= 2;
      g.lane_bits = bit + 1;
    }
  }
  g.stride[0] = 1;
  g.stride[1] = extent[0] / 2;
  g.stride[2] = g.stride[1] * extent[1];
  g.stride[3] = g.stride[2] * extent[2];
  for (int mu = 0; mu < directions; ++mu) g.extent[mu] = extent[mu];
  g.by_half_x = make_divisor(extent[0] / 2);
  g.by_y = make_divisor(extent[1]);
  g.by_z = make_divisor(extent[2]);
  g.half_sites = g.stride[3] * extent[3];
  g.lane_tables = lanes > 1 ? &tables : nullptr;
  for (int mu = 0; mu < directions; ++mu) {
    for (int lane = 0; lane < lanes; ++lane) {
      const int here = coordinate_of_lane(g, lane, mu), count = g.split[mu];
      tables.permutation[mu][0][lane] = lane_at(g, lane, mu, (here + 1) % count);
      tables.permutation[mu][1][lane] = lane_at(g, lane, mu, (here + count - 1) % count);
      tables.crossing[mu][0][lane] = here == count - 1 ? -1 : 0;
      tables.crossing[mu][1][lane] = here == 0 ? -1 : 0;
    }
  }
  return g;
}

}  // namespace quarksmith
