#include "runtime/lattice.hpp"

#include <fmt/format.h>

#include <limits>

#include "runtime/error.hpp"

namespace quarksmith {

Lattice::Lattice(const Coordinates& extent) : extent_(extent) {
  long long sites = 1;
  for (const int n : extent) {
    if (n < 2 || n % 2 != 0)
      throw WrongLattice(
          fmt::format("lattice {}: extent {} is not an even number of at least 2; use even extents", text(), n));
    sites *= n;
    if (sites > std::numeric_limits<int>::max())
      throw WrongLattice(fmt::format("lattice {} has more than 2^31 - 1 sites; use a smaller one", text()));
  }
  half_sites_ = static_cast<int>(sites / 2);
}

Coordinates Lattice::coordinates(long long index) const {
  Coordinates x;
  for (int mu = 0; mu < directions; ++mu) {
    x[mu] = static_cast<int>(index % extent_[mu]);
    index /= extent_[mu];
  }
  return x;
}

long long Lattice::neighbour(long long index, int mu, int step) const {
  Coordinates x = coordinates(index);
  x[mu] = (x[mu] + step + extent_[mu]) % extent_[mu];
  return this->index(x);
}

std::string Lattice::text() const { return fmt::format("{}x{}x{}x{}", extent_[0], extent_[1], extent_[2], extent_[3]); }

namespace {

/// Direction to halve next: the longest whose half is still even; the slower one of equals. -1 if there is none.
int next_halving(const Coordinates& extent) {
  int best = -1;
  for (int mu = directions - 1; mu >= 0; --mu)
    if (extent[mu] % 4 == 0 && (best < 0 || extent[mu] > extent[best])) best = mu;
  return best;
}

Divisor make_divisor(int d) {
  int bits = 0;
  while ((1ll << bits) < d) ++bits;
  const unsigned long long one = 1ull << (31 + bits);
  return {static_cast<unsigned>(one / d + 1), 31 + bits};
}

int coordinate_of_lane(const Geometry& g, int lane, int mu) {
  int coordinate = 0;
  for (int bit = 0; bit < g.lane_bits; ++bit)
    if (g.lane_direction[bit] == mu) coordinate = 2 * coordinate + ((lane >> bit) & 1);
  return coordinate;
}

/// The lane whose coordinate along mu is `coordinate`, others as in `lane`.
int lane_at(const Geometry& g, int lane, int mu, int coordinate) {
  for (int bit = g.lane_bits - 1; bit >= 0; --bit) {
    if (g.lane_direction[bit] != mu) continue;
    lane = (lane & ~(1 << bit)) | ((coordinate & 1) << bit);
    coordinate /= 2;
  }
  return lane;
}

}  // namespace

bool LaneLayout::possible(const Lattice& lattice, int lanes) {
  Coordinates extent = lattice.extent();
  for (int n = 1; n < lanes; n *= 2) {
    const int mu = next_halving(extent);
    if (mu < 0) return false;
    extent[mu] /= 2;
  }
  return true;
}

LaneLayout::LaneLayout(const Lattice& lattice, int lanes) {
  if (lanes < 1 || lanes > max_lanes || (lanes & (lanes - 1)) != 0 || !possible(lattice, lanes))
    throw UsageError(fmt::format("lattice {} cannot be cut into {} boxes of even extents", lattice.text(), lanes));
  Geometry& g = geometry_;
  Coordinates extent = lattice.extent();
  for (int mu = 0; mu < directions; ++mu) g.split[mu] = 1;
  g.lanes = lanes;
  // All halvings are recorded, those beyond `lanes` for fields that are stored with more lanes (runtime/site.hpp:
  // locate).
  Coordinates rest = extent;
  for (int bit = 0; (1 << bit) < max_lanes; ++bit) {
    const int mu = next_halving(rest);
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
  g.half_sites = lattice.half_sites() / lanes;
  g.lane_tables = lanes > 1 ? &tables_ : nullptr;
  for (int mu = 0; mu < directions; ++mu) {
    for (int lane = 0; lane < lanes; ++lane) {
      const int here = coordinate_of_lane(g, lane, mu), count = g.split[mu];
      tables_.permutation[mu][0][lane] = lane_at(g, lane, mu, (here + 1) % count);
      tables_.permutation[mu][1][lane] = lane_at(g, lane, mu, (here + count - 1) % count);
      tables_.crossing[mu][0][lane] = here == count - 1 ? -1 : 0;
      tables_.crossing[mu][1][lane] = here == 0 ? -1 : 0;
    }
  }
}

LaneLayout::Position LaneLayout::position(const Coordinates& x) const {
  const Geometry& g = geometry_;
  Coordinates inner = x;
  int lane = 0;
  for (int mu = 0; mu < directions; ++mu) {
    lane = lane_at(g, lane, mu, x[mu] / g.extent[mu]);
    inner[mu] = x[mu] % g.extent[mu];
  }
  const int row = (inner[3] * g.extent[2] + inner[2]) * g.extent[1] + inner[1];
  return {row * (g.extent[0] / 2) + inner[0] / 2, lane};
}

}  // namespace quarksmith
