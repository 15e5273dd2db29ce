/// \file
/// The lattice: extents, numbering of sites, lanes.
#pragma once

#include <array>
#include <complex>
#include <string>

#include "runtime/kernels/arguments.hpp"

namespace quarksmith {

/// (x + y + z + t) mod 2
enum class Parity : int { even = 0, odd = 1 };

/// The other parity.
constexpr Parity opposite(Parity p) { return p == Parity::even ? Parity::odd : Parity::even; }

/// The sites that a field holds.
enum class Subset { even, odd, full };

/// The sites of a parity.
constexpr Subset subset_of(Parity p) { return p == Parity::even ? Subset::even : Subset::odd; }
/// Number of parities that a subset holds.
constexpr int parities(Subset s) { return s == Subset::full ? 2 : 1; }
/// Whether a subset holds the sites of a parity.
inline bool holds(Subset subset, Parity parity) { return subset == Subset::full || int(subset) == int(parity); }

/// Coordinates or extents, order x, y, z, t.
using Coordinates = std::array<int, directions>;

/// A lattice with even extents: a whole periodic one, or the local lattice of one rank in a grid. Site numbers are
/// lexicographic, x fastest, t slowest. Extents, coordinates and numbers are local ones unless `global` is in the name.
class Lattice {
 public:
  /// A whole lattice.
  /// \throws WrongLattice an extent is odd, smaller than 2, or the volume exceeds 2^31 - 1 sites.
  explicit Lattice(const Coordinates& extent);
  /// The local lattice at `position` of a grid of ranks. Its extents are even: parities of sites are the same locally
  /// and globally, and even-odd kernels need as many even sites as odd ones.
  /// \throws WrongLattice the grid does not divide the lattice into local lattices of even extents.
  Lattice(const Coordinates& global_extent, const Coordinates& grid, const Coordinates& position);

  const Coordinates& extent() const { return extent_; }
  int extent(int mu) const { return extent_[mu]; }
  /// Number of sites.
  long long sites() const { return 2ll * half_sites_; }
  /// Number of sites of one parity.
  int half_sites() const { return half_sites_; }
  /// Sites of one time slice.
  int space_sites() const { return extent_[0] * extent_[1] * extent_[2]; }

  /// Lexicographic number of a site; coordinates within the extents.
  long long index(const Coordinates& x) const {
    return ((static_cast<long long>(x[3]) * extent_[2] + x[2]) * extent_[1] + x[1]) * extent_[0] + x[0];
  }
  /// Coordinates of a lexicographic number.
  Coordinates coordinates(long long index) const;
  /// Lexicographic number of the site one step (+1 or -1) away along mu.
  long long neighbour(long long index, int mu, int step) const;
  /// Parity of a site.
  static Parity parity(const Coordinates& x) { return Parity((x[0] + x[1] + x[2] + x[3]) & 1); }

  /// Extents of the global lattice; its own if it is not divided.
  const Coordinates& global_extent() const { return global_; }
  int global_extent(int mu) const { return global_[mu]; }
  long long global_sites() const { return sites() * ranks(); }
  /// Ranks along each direction, and their number.
  const Coordinates& grid() const { return grid_; }
  int ranks() const { return grid_[0] * grid_[1] * grid_[2] * grid_[3]; }
  /// Whether sites across the boundary in direction mu belong to another rank.
  bool split(int mu) const { return grid_[mu] > 1; }
  /// Global coordinate of the first local site.
  int origin(int mu) const { return origin_[mu]; }
  /// Number in the grid, x fastest, of the rank that holds this local lattice.
  int rank() const { return rank_at(0, 0); }
  /// Number of the rank `step` further along mu, periodically.
  int rank_at(int mu, int step) const;
  /// Global coordinates, and global lexicographic number, of a local site.
  Coordinates global_coordinates(long long index) const;
  long long global_index(long long index) const;
  /// Local coordinates of a site of the global lattice; false if another rank holds it.
  bool find(const Coordinates& global, Coordinates& here) const;

  /// Local extents, such as `8x8x8x16`.
  std::string text() const;
  /// Extents of the global lattice, likewise.
  std::string global_text() const;

  friend bool operator==(const Lattice&, const Lattice&) = default;

 private:
  Coordinates extent_, global_, grid_{1, 1, 1, 1}, origin_{};
  int half_sites_;
};

/// The lanes of a CPU block: each covers a box whose extents are the lattice's, halved once for every lane bit. Where
/// boxes of even extents, which hops of `reach` sites leave over one boundary at most, are fewer than lanes, several
/// lanes cover the same box and hold the same. The halvings for 2^k lanes are the first k of those for more lanes.
class LaneLayout {
 public:
  /// \param lanes a power of two; 1 means no lanes.
  /// \throws UsageError lanes is no power of two up to max_lanes.
  LaneLayout(const Lattice& lattice, int lanes, int reach = 1);
  LaneLayout(const LaneLayout&) = delete;
  LaneLayout& operator=(const LaneLayout&) = delete;

  /// Geometry for kernels; valid as long as this object.
  const Geometry& geometry() const { return geometry_; }
  /// Boxes that lanes cover: lanes l, l + boxes(), ... hold the same sites.
  int boxes() const;
  /// Block and first lane in which a site is stored; the block is numbered among those of the site's parity.
  struct Position {
    int block, lane;
  };
  Position position(const Coordinates& x) const;

 private:
  Geometry geometry_{};
  LaneTables tables_{};
};

}  // namespace quarksmith
