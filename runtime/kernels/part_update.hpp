/// \file
/// Updates of links on several ranks, on padded lattices. Include after runtime/kernels/kernel.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Calls update_link for every lane of a block of the whole lattice, or of a padded lattice, for whose slots `in` has
/// the numbers of sites in the whole lattice; sites of other ranks have none, and are left unchanged.
template <class Update, int W, class R, int N>
QUARKSMITH_INLINE void update_own_lanes(const Arguments& a, const Site& x, Link<R, N>& u, const Link<R, N>& staple) {
  if (a.in.data == nullptr) return update_lanes<Update, W>(a, x, u, staple);
  const auto* const numbers = static_cast<const unsigned long long*>(a.in.data) + x.parity * a.in.parity_stride +
                              static_cast<long long>(x.place.block) * a.in.lanes;
  constexpr unsigned long long nowhere = ~0ull;  // SiteDraws::nowhere
  for (int l = 0; l < W; ++l) {
    if (numbers[l] == nowhere) continue;
    Link<double, N> link = lane_of(u, l);
    Random random(a.random, unsigned(numbers[l]));
    update_link<Update>(a, link, lane_of(staple, l), random);
    set_lane_of(u, l, link);
  }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
