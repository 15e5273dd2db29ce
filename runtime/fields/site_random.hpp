/// \file
/// Random numbers of sites, the same however a lattice is cut into parts.
#pragma once

#include "runtime/fields/lattice.hpp"
#include "runtime/kernels/random.hpp"

namespace quarksmith {

/// The stream of a site of this part: it depends on `state` and the number of the site in the global lattice. Beyond
/// 2^32 sites the high half of that number goes into the counter, which others use from the low end.
inline Random random_at(const Lattice& lattice, long long site, RandomState state) {
  const auto number = static_cast<unsigned long long>(lattice.global_index(site));
  state.counter ^= number >> 32 << 32;
  return {state, static_cast<unsigned>(number)};
}

}  // namespace quarksmith
