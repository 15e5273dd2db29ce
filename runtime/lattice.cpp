#include "runtime/lattice.hpp"

#include <fmt/format.h>

#include <limits>

#include "runtime/error.hpp"
#include "runtime/geometry.hpp"

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

bool LaneLayout::possible(const Lattice& lattice, int lanes) { return lanes_possible(lattice.extent().data(), lanes); }

LaneLayout::LaneLayout(const Lattice& lattice, int lanes) {
  if (lanes < 1 || lanes > max_lanes || (lanes & (lanes - 1)) != 0 || !possible(lattice, lanes))
    throw UsageError(fmt::format("lattice {} cannot be cut into {} boxes of even extents", lattice.text(), lanes));
  geometry_ = make_geometry(lattice.extent().data(), lanes, tables_);
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
