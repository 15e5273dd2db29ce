/// \file
/// Products of links along a path of lattice steps.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// A site reached by at most Length steps, and the lane exchanges met on the way.
template <int Length>
struct Walk {
  Site site;
  int exchanges = 0;
  const int* table[Length];
  QUARKSMITH_INLINE explicit Walk(const Site& start) : site(start) {}
};

/// One step along direction Mu; Sign = +1 forward, -1 backward.
template <int Mu, int Sign, int Length>
QUARKSMITH_INLINE void step(const Arguments& a, Walk<Length>& at) {
  const auto next = neighbour<Mu, Sign>(a.geometry, at.site);
  at.site.place = next.place;
  at.site.parity ^= 1;
  at.site.x[Mu] = next.crosses ? (Sign > 0 ? 0 : a.geometry.extent[Mu] - 1) : at.site.x[Mu] + Sign;
  if constexpr (has_lanes)
    if (next.crosses && a.geometry.split[Mu] > 1)
      at.table[at.exchanges++] = a.geometry.lane_tables->permutation[Mu][Sign > 0 ? 0 : 1];
}

}  // namespace quarksmith::QUARKSMITH_TARGET
