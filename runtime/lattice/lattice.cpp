#include "runtime/lattice/lattice.hpp"

#include <fmt/format.h>

#include <limits>

#include "runtime/error.hpp"
#include "runtime/lattice/geometry.hpp"
#include "runtime/fork.hpp"

namespace quarksmith {

namespace {

const ForkSafety fork_safety;  // here, since nothing computes without a lattice

std::string extents_text(const Coordinates& x) { return fmt::format("{}x{}x{}x{}", x[0], x[1], x[2], x[3]); }

}  // namespace

Lattice::Lattice(const Coordinates& extent) : extent_(extent), global_(extent) {
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

Lattice::Lattice(const Coordinates& global_extent, const Coordinates& grid, const Coordinates& position)
    : Lattice([&] {
        Coordinates extent;
        for (int mu = 0; mu < directions; ++mu) {
          const int whole = global_extent[mu], count = grid[mu];
          if (count < 1 || whole % count != 0 || whole / count % 2 != 0)
            throw WrongLattice(fmt::format(
                "lattice {} on a {} grid of ranks: {} sites in {} cannot be cut into {} parts of even length, which "
                "even-odd kernels need; use another --grid or number of ranks",
                extents_text(global_extent), extents_text(grid), whole, "xyzt"[mu], count));
          extent[mu] = whole / count;
        }
        return extent;
      }()) {
  global_ = global_extent;
  grid_ = grid;
  for (int mu = 0; mu < directions; ++mu) origin_[mu] = position[mu] * extent_[mu];
}

int Lattice::rank_at(int mu, int step) const {
  int number = 0;
  for (int nu = directions - 1; nu >= 0; --nu) {
    const int position = origin_[nu] / extent_[nu] + (nu == mu ? step + grid_[nu] : 0);
    number = number * grid_[nu] + position % grid_[nu];
  }
  return number;
}

Coordinates Lattice::global_coordinates(long long index) const {
  Coordinates x = coordinates(index);
  for (int mu = 0; mu < directions; ++mu) x[mu] += origin_[mu];
  return x;
}

long long Lattice::global_index(long long index) const {
  const Coordinates x = global_coordinates(index);
  long long number = 0;
  for (int mu = directions - 1; mu >= 0; --mu) number = number * global_[mu] + x[mu];
  return number;
}

bool Lattice::find(const Coordinates& global, Coordinates& here) const {
  for (int mu = 0; mu < directions; ++mu) {
    here[mu] = global[mu] - origin_[mu];
    if (here[mu] < 0 || here[mu] >= extent_[mu]) return false;
  }
  return true;
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

std::string Lattice::text() const { return extents_text(extent_); }
std::string Lattice::global_text() const { return extents_text(global_); }

LaneLayout::LaneLayout(const Lattice& lattice, int lanes, int reach) {
  if (lanes < 1 || lanes > max_lanes || (lanes & (lanes - 1)) != 0)
    throw UsageError(fmt::format("{} lanes; use a power of two up to {}", lanes, max_lanes));
  geometry_ = make_geometry(lattice.extent().data(), lanes, tables_, reach);
}

int LaneLayout::boxes() const { return boxes_of(geometry_); }

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
