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
  if (next.crosses && a.geometry.split[Mu] > 1)
    at.table[at.exchanges++] = a.geometry.lane_tables->permutation[Mu][Sign > 0 ? 0 : 1];
}

/// The link of direction Mu of a field at the site reached, as the lanes of the start see it.
template <int Mu, class Links, int Length>
QUARKSMITH_INLINE typename Links::Value link_at(const Operand& field, const Walk<Length>& at) {
  auto u = Links::load(field, at.site.place, at.site.parity, Mu);
  for (int i = at.exchanges - 1; i >= 0; --i) {
    const int* table = at.table[i];
    u = map(u, [table](const auto& z) { return decltype(u.a0 + u.a0){exchange(z.re, table), exchange(z.im, table)}; });
  }
  return u;
}

/// U_mu of a field at the site reached, which then moves forward.
template <int Mu, class Links, int Length>
QUARKSMITH_INLINE typename Links::Value forward(const Arguments& a, const Operand& field, Walk<Length>& at) {
  const auto u = link_at<Mu, Links>(field, at);
  step<Mu, +1>(a, at);
  return u;
}
/// U_mu^+ of the link that leads back; the site moves backward first.
template <int Mu, class Links, int Length>
QUARKSMITH_INLINE typename Links::Value backward(const Arguments& a, const Operand& field, Walk<Length>& at) {
  step<Mu, -1>(a, at);
  return adj(link_at<Mu, Links>(field, at));
}
/// The same for the field a.links.
template <int Mu, class Links, int Length>
QUARKSMITH_INLINE typename Links::Value forward(const Arguments& a, Walk<Length>& at) {
  return forward<Mu, Links>(a, a.links, at);
}
template <int Mu, class Links, int Length>
QUARKSMITH_INLINE typename Links::Value backward(const Arguments& a, Walk<Length>& at) {
  return backward<Mu, Links>(a, a.links, at);
}

/// out = a p and z = z + b p for links of direction mu; a field without memory is left out.
template <class Links>
QUARKSMITH_INLINE void store_sum(const Arguments& a, const Site& x, int mu, const typename Links::Value& p) {
  using R = typename Links::Real;
  if (a.out.data != nullptr) Links::store(a.out, x.place, x.parity, mu, real_scalar<R>(a.a) * p);
  if (a.z.data != nullptr)
    Links::store(a.z, x.place, x.parity, mu, Links::load(a.z, x.place, x.parity, mu) + real_scalar<R>(a.b) * p);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
