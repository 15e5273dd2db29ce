/// \file
/// Where word n of a site lies in the memory of a field: the host's side of runtime/view.hpp.
#pragma once

#include "runtime/arguments.hpp"

namespace quarksmith {

/// Short vectors with the site index outside them (GPUs), or blocks of lanes (CPU).
struct MemoryOrder {
  int group;         ///< words of one group: a spinor, the link of one direction, a block of a term
  int groups;        ///< groups of a site
  int vector;        ///< words of a short vector
  long long blocks;  ///< sites or blocks of all parities held
  int lanes;
  bool short_vectors;

  MemoryOrder(bool short_vectors_, int group_words, int group_count, int word_bytes, long long block_count, int lanes_)
      : group(group_words),
        groups(group_count),
        vector(vector_bytes(group_words * word_bytes) / word_bytes),
        blocks(block_count),
        lanes(lanes_),
        short_vectors(short_vectors_) {}

  long long words() const { return blocks * lanes * group * groups; }
  /// Operand::stride
  long long stride() const { return short_vectors ? blocks : static_cast<long long>(group) * groups; }
  /// Words from the first to the second parity.
  long long parity_words() const { return short_vectors ? blocks / 2 * vector : blocks / 2 * stride() * lanes; }
  /// Rows of short vectors; 1 where a site's words are consecutive.
  int rows() const { return short_vectors ? group * groups / vector : 1; }
  /// Word number n (counted over all groups) of a block and lane.
  long long word(long long block, int lane, int n) const {
    if (short_vectors) return ((n / vector) * blocks + block) * vector + n % vector;
    return (block * stride() + n) * lanes + lane;
  }
};

}  // namespace quarksmith
