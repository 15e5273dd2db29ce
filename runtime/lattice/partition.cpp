#include "runtime/lattice/partition.hpp"

#include <fmt/format.h>

#include <limits>

#include "runtime/error.hpp"

namespace quarksmith {

Coordinates choose_grid(const Coordinates& extent, int count) {
  Coordinates best{}, grid;
  double least = std::numeric_limits<double>::infinity();
  for (grid[0] = 1; grid[0] <= count; ++grid[0])
    for (grid[1] = 1; grid[0] * grid[1] <= count; ++grid[1])
      for (grid[2] = 1; grid[0] * grid[1] * grid[2] <= count; ++grid[2]) {
        grid[3] = count / (grid[0] * grid[1] * grid[2]);
        if (grid[0] * grid[1] * grid[2] * grid[3] != count) continue;
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
        extent[0], extent[1], extent[2], extent[3], count));
  return best;
}

void require_spread(const Lattice& lattice, const Communicator& communicator) {
  if (lattice.ranks() != communicator.size())
    throw UsageError(fmt::format("a lattice of {} parts for {} ranks", lattice.ranks(), communicator.size()));
}

Lattice Partition::local_lattice(const Coordinates& extent) const {
  const int ranks = communicator->size();
  if (!grid && preferred && preferred->global_extent() == extent && preferred->ranks() == ranks) return *preferred;
  if (ranks == 1 && !grid) return Lattice(extent);
  const Coordinates g = grid ? *grid : choose_grid(extent, ranks);
  long long count = 1;
  for (const int n : g) count *= n;
  if (count != ranks)
    throw UsageError(fmt::format("--grid {},{},{},{} has {} parts, but {} started; start as many with mpirun -n {}",
                                 g[0], g[1], g[2], g[3], count,
                                 ranks == 1 ? "one rank was" : fmt::format("{} ranks were", ranks), count));
  Coordinates position;
  int rest = communicator->rank();
  for (int mu = 0; mu < directions; ++mu) {
    position[mu] = rest % g[mu];
    rest /= g[mu];
  }
  return {extent, g, position};
}

}  // namespace quarksmith
