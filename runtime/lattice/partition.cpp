#include "runtime/lattice/partition.hpp"

#include <fmt/format.h>

#include <limits>

#include "runtime/error.hpp"

namespace quarksmith {

Coordinates choose_grid(const Coordinates& extent, int parts) {
  Coordinates best{}, grid;
  double least = std::numeric_limits<double>::infinity();
  for (grid[0] = 1; grid[0] <= parts; ++grid[0])
    for (grid[1] = 1; grid[0] * grid[1] <= parts; ++grid[1])
      for (grid[2] = 1; grid[0] * grid[1] * grid[2] <= parts; ++grid[2]) {
        grid[3] = parts / (grid[0] * grid[1] * grid[2]);
        if (grid[0] * grid[1] * grid[2] * grid[3] != parts) continue;
        double boundary = 0;  // share of sites on a boundary, those of slower directions a little cheaper
        bool even = true;
        for (int mu = 0; mu < directions; ++mu) {
          even = even && extent[mu] % grid[mu] == 0 && extent[mu] / grid[mu] % 2 == 0;
          if (grid[mu] > 1) boundary += (1 - 1e-3 * mu) * grid[mu] / extent[mu];
        }
        if (even && boundary < least) least = boundary, best = grid;
      }
  if (best[0] == 0)
    throw WrongLattice(fmt::format(
        "lattice {}x{}x{}x{} cannot be cut into {} parts of even extents, which even-odd kernels need; use another "
        "number of ranks",
        extent[0], extent[1], extent[2], extent[3], parts));
  return best;
}

void require_spread(const Lattice& lattice, const Communicator& communicator) {
  if (lattice.parts() != communicator.size())
    throw UsageError(fmt::format("a lattice of {} parts for {} ranks", lattice.parts(), communicator.size()));
}

Lattice Partition::part(const Coordinates& extent) const {
  const int ranks = communicator->size();
  if (ranks == 1 && !grid) return Lattice(extent);
  const Coordinates g = grid ? *grid : choose_grid(extent, ranks);
  long long parts = 1;
  for (const int n : g) parts *= n;
  if (parts != ranks)
    throw UsageError(fmt::format("--grid {},{},{},{} has {} parts, but {} ranks were started; they must be equal", g[0],
                                 g[1], g[2], g[3], parts, ranks));
  Coordinates position;
  int rest = communicator->rank();
  for (int mu = 0; mu < directions; ++mu) {
    position[mu] = rest % g[mu];
    rest /= g[mu];
  }
  return {extent, g, position};
}

}  // namespace quarksmith
