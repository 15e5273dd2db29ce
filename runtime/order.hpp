/// \file
/// Where the words of a field lie in memory: the host's side of runtime/view.hpp.
#pragma once

#include "runtime/field.hpp"

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

  MemoryOrder(const Device& device, int group_words, int group_count, int word_bytes, long long block_count,
              int parity_count, int lanes_)
      : group(group_words),
        groups(group_count),
        vector(vector_bytes(group_words * word_bytes) / word_bytes),
        blocks(block_count),
        parities(parity_count),
        lanes(lanes_),
        short_vectors(device.short_vectors()) {}

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
};

/// Orders of the kinds of fields.
inline MemoryOrder order_of(const SpinorField& f) {
  return {f.device(),
          f.spins() * f.precision().spin_words,
          1,
          f.precision().word_bytes,
          f.count() / parities(f.subset()),
          parities(f.subset()),
          f.lanes()};
}
inline MemoryOrder order_of(const LinkField& f) {
  return {f.domain().device(),
          f.storage().reals,
          directions,
          f.precision().word_bytes,
          f.domain().lattice().half_sites() / f.lanes(),
          2,
          f.lanes()};
}
inline MemoryOrder order_of(const TermField& f) {
  return {f.domain().device(),
          36,
          2,
          f.precision().word_bytes,
          f.domain().lattice().half_sites() / f.lanes(),
          2,
          f.lanes()};
}

/// Whether a subset holds the sites of a parity.
inline bool holds(Subset subset, Parity parity) { return subset == Subset::full || int(subset) == int(parity); }

}  // namespace quarksmith
