/// \file
/// The memory orders of spinor, link and term fields, and where their sites lie.
#pragma once

#include "runtime/fields/field.hpp"
#include "runtime/lattice/stored_order.hpp"

namespace quarksmith {

/// Words of one link: short integers are filled up to an even number (runtime/kernels/codec.hpp).
inline int link_words(const LinkField& f) {
  const int reals = f.storage().reals;
  return f.precision().word_bytes == 2 ? reals + reals % 2 : reals;
}

/// Orders of the kinds of fields.
inline MemoryOrder order_of(const SpinorField& f) {
  return {f.device().short_vectors(),
          f.spins() * f.colour_words(),
          1,
          f.precision().word_bytes,
          f.domain().layout(f.lanes()).geometry().half_sites,
          parities(f.subset()),
          f.lanes()};
}
inline MemoryOrder order_of(const LinkField& f) {
  return {f.domain().device().short_vectors(),
          link_words(f),
          directions,
          f.precision().word_bytes,
          f.domain().layout(f.lanes()).geometry().half_sites,
          2,
          f.lanes()};
}
inline MemoryOrder order_of(const TermField& f) {
  return {f.domain().device().short_vectors(),
          36,
          2,
          f.precision().word_bytes,
          f.domain().layout(f.lanes()).geometry().half_sites,
          2,
          f.lanes()};
}

/// Fields in memory, for copies of sites.
inline StoredSites stored_sites(const SpinorField& f) {
  StoredSites s = stored_sites(order_of(f), f.operand(), f.precision().word_bytes);
  s.rhs = f.rhs();
  return s;
}
inline StoredSites stored_sites(const LinkField& f) {
  return stored_sites(order_of(f), f.operand(), f.precision().word_bytes);
}
inline StoredSites stored_sites(const TermField& f) {
  return stored_sites(order_of(f), f.operand(), f.precision().word_bytes);
}

}  // namespace quarksmith
