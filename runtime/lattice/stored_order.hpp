/// \file
/// Sites in the memory of a field, for copies of some of them.
#pragma once

#include <cstddef>

#include "runtime/lattice/memory_order.hpp"

namespace quarksmith {

/// Fields in memory, for copies of sites.
inline StoredSites stored_sites(const MemoryOrder& order, const Operand& operand, int word_bytes) {
  const int piece = order.short_vectors ? order.vector : 1;
  StoredSites s;
  s.data = static_cast<char*>(operand.data);
  s.norm = operand.norm;
  s.pieces = order.site_words() / piece;
  s.piece_bytes = piece * word_bytes;
  s.row = order.short_vectors ? site_block : order.lanes;
  s.rhs_bytes = operand.rhs_stride * word_bytes;
  s.norm_rhs_stride = operand.norm_rhs_stride;
  s.half = static_cast<int>(order.padded() * order.lanes);
  if (operand.parity_stride != 0) s.gap = (operand.parity_stride - order.parity_words()) / piece;
  return s;
}
/// The slot (place in memory) of a site.
inline int slot_of(const MemoryOrder& order, int parity, long long block, int lane) {
  return static_cast<int>((parity * order.padded() + block) * order.lanes + lane);
}
/// One group of numbers of each site, such as the link of a direction, which has `pieces` pieces.
inline StoredSites group_of(StoredSites sites, int group, int pieces) {
  sites.data += static_cast<std::ptrdiff_t>(group) * pieces * sites.row * sites.piece_bytes;
  return sites;
}

}  // namespace quarksmith
