/// \file
/// Position of word n of a site in the memory of a field: the host's side of runtime/kernels/view.hpp.
#pragma once

#include "runtime/kernels/arguments.hpp"
#include "runtime/kernels/stored_sites.hpp"

namespace quarksmith {

/// Blocks of sites, one parity after the other: of SIMD lanes, or of a warp's threads with the words of a site cut into
/// short vectors. Inside a block the lane, or site, runs fastest outside those.
struct MemoryOrder {
  int group;         ///< words of one group: a spinor, the link of one direction, a block of a term
  int groups;        ///< groups of a site
  int vector;        ///< words of a short vector
  long long blocks;  ///< sites or blocks of lanes of one parity
  int parities;      ///< held
  int lanes;
  bool short_vectors;

  MemoryOrder(bool short_vectors_, int group_words, int group_count, int word_bytes, long long block_count,
              int parity_count, int lanes_)
      : group(group_words),
        groups(group_count),
        vector(vector_bytes(group_words * word_bytes) / word_bytes),
        blocks(block_count),
        parities(parity_count),
        lanes(lanes_),
        short_vectors(short_vectors_) {}

  int site_words() const { return group * groups; }
  /// Blocks of a parity with what fills the last block of sites.
  long long padded() const { return short_vectors ? (blocks + site_block - 1) / site_block * site_block : blocks; }
  /// Words from the first to the second parity.
  long long parity_words() const { return padded() * lanes * site_words(); }
  long long words() const { return parity_words() * parities; }
  /// Word number n (counted over all groups) of a block, counted over the parities held, and lane.
  long long word(long long block, int lane, int n) const {
    if (block >= blocks) block += padded() - blocks;
    if (!short_vectors) return (block * site_words() + n) * lanes + lane;
    const long long inside = block % site_block;
    return (block - inside) * site_words() + (n / vector * site_block + inside) * vector + n % vector;
  }
  /// Word number n of all sites, with what fills blocks; of lanes those of `boxes`.
  SiteNumbers numbers(const double* words, int n, int boxes) const {
    const int side_by_side = short_vectors ? site_block : lanes;
    return {words + word(0, 0, n), padded() * lanes / side_by_side * parities, short_vectors ? site_block : boxes,
            short_vectors ? vector : 1, static_cast<long long>(side_by_side) * site_words()};
  }
};

}  // namespace quarksmith
