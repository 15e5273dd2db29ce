/// \file
/// What tests of the C interface on ranks share: communicators, numberings of ranks, local arrays.
#pragma once

#define OMPI_SKIP_MPICXX  // the C++ interface that the standard has dropped
#include <quarksmith_mpi.h>

#include <algorithm>

#include "tests/c/support.hpp"
#include "tests/ranks/support.hpp"

namespace c_on_ranks {

using namespace c;
using c::Context, c::Field, c::Gauge, c::Operator, c::Result, c::Solver;  // not those of the library
using ranks::text;
using ranks::world;

inline const Coordinates whole = {8, 4, 4, 8};

/// A grid of all ranks.
inline Coordinates a_grid() { return ranks::grids(whole).front(); }

/// A copy of a communicator, freed with its scope.
class Copy {
 public:
  explicit Copy(MPI_Comm of = MPI_COMM_WORLD) { MPI_Comm_dup(of, &comm_); }
  Copy(int colour, int key) { MPI_Comm_split(MPI_COMM_WORLD, colour, key, &comm_); }
  ~Copy() { MPI_Comm_free(&comm_); }
  Copy(const Copy&) = delete;
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Ranks in reverse lexicographic order.
inline int reversed(const int place[4], void* data) {
  const int* grid = static_cast<const int*>(data);
  int n = 0;
  for (int mu = 3; mu >= 0; --mu) n = n * grid[mu] + place[mu];
  return grid[0] * grid[1] * grid[2] * grid[3] - 1 - n;
}

enum class Order { x_fastest, t_fastest, reverse };

inline quarksmith_ranks ranks_of(MPI_Comm comm, Coordinates& grid, Order order) {
  quarksmith_ranks r = initial(quarksmith_ranks_init);
  quarksmith_ranks_use(&r, comm);
  std::copy_n(grid.begin(), 4, r.grid);
  if (order == Order::t_fastest)
    for (int k = 0; k < 4; ++k) r.axes[k] = 3 - k;
  if (order == Order::reverse) r.rank_of = reversed, r.data = grid.data();
  return r;
}

/// Where this rank is in the grid.
inline Coordinates place_of(MPI_Comm comm, const Coordinates& grid, Order order) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (order == Order::reverse) rank = size - 1 - rank;
  Coordinates place;
  for (int k = 0; k < 4; ++k) {
    const int mu = order == Order::t_fastest ? 3 - k : k;
    place[mu] = rank % grid[mu];
    rank /= grid[mu];
  }
  return place;
}

/// This rank's local lattice, and a context on it.
struct Here {
  Here(MPI_Comm comm, Coordinates grid, Order order, const Coordinates& extent = whole)
      : lattice(extent, grid, place_of(comm, grid, order)) {
    const quarksmith_ranks r = ranks_of(comm, grid, order);
    EXPECT_DONE(quarksmith_open_ranks("cpu", lattice.extent().data(), &r, context.out()));
  }
  Lattice lattice;
  Context context;
};

/// Numbers of the local lattice from those of the whole one, `each` at a site.
inline Numbers cut(const Numbers& all, const Lattice& here, std::size_t each) {
  Numbers local;
  for (long long i = 0; i < here.sites(); ++i) {
    const auto first = all.begin() + static_cast<long>(each * static_cast<std::size_t>(here.global_index(i)));
    local.insert(local.end(), first, first + static_cast<long>(each));
  }
  return local;
}

inline Gauge load_numbers(quarksmith_context* context, const Numbers& numbers) {
  Gauge gauge;
  const void* array = numbers.data();
  const quarksmith_link_format format = link_format();
  EXPECT_DONE(quarksmith_gauge_load(context, &array, &format, gauge.out()));
  return gauge;
}

}  // namespace c_on_ranks
