/// \file
/// The sites of a block and their numbers.
#pragma once

#include <vector>

#include "runtime/lattice/lattice.hpp"

namespace quarksmith {

/// Numbering of the sites of a block. If all lengths are even, even sites come first, so that they are contiguous; else
/// sites are numbered lexicographically.
class BlockSites {
 public:
  /// Number of faces of a block, ahead and behind in each direction, and of corners.
  static constexpr int whole_faces = 2 * directions, corners = 1 << directions;

  explicit BlockSites(const Coordinates& block);
  int count() const { return count_; }
  bool even_first() const { return even_first_; }
  /// Number of the site with these coordinates inside the block.
  int number(const Coordinates& inside) const;
  /// Numbers of the sites that see one of its neighbours. Face 2 mu + (step < 0): those from which a hop in that
  /// direction may lead out of the block. Where blocks of one site have the same neighbour on both sides, all that
  /// comes from there counts as coming from the next. Faces that follow: of each the outermost layer; the corners, in
  /// which the middle of an odd length counts as upper half.
  std::vector<int> at(int face) const;
  /// For each site, by number, the bits of the faces to which it belongs (see at).
  std::vector<unsigned> faces() const;

 private:
  /// Coordinate mu of each site, by number.
  std::vector<int> coordinates(int mu) const;

  Coordinates block_;
  int count_;
  bool even_first_;
};

}  // namespace quarksmith
