/// \file
/// Building blocks of kernels of lattice expressions: fields at a site or at the end of a walk from it, and arithmetic
/// of spinors. Include after runtime/kernels/kernel.hpp.
#pragma once

#include "runtime/kernels/su3.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// The site reached from x by the steps: +1 ... +4 forward along x, y, z, t, negative backward.
template <int... Steps>
QUARKSMITH_INLINE Walk<sizeof...(Steps)> walk(const Arguments& a, const Site& x) {
  Walk<sizeof...(Steps)> at(x);
  (step<(Steps > 0 ? Steps : -Steps) - 1, (Steps > 0 ? 1 : -1)>(a, at), ...);
  return at;
}

/// Element mu of an array, for a direction known at run time, without indexing memory.
QUARKSMITH_INLINE int chosen(const int (&of)[directions], int mu) {
  int value = of[0];
  QUARKSMITH_UNROLL
  for (int nu = 1; nu < directions; ++nu) value = nu == mu ? of[nu] : value;
  return value;
}

/// One step along such a direction: one text for all of them.
template <int Sign, int Length>
QUARKSMITH_INLINE void step_along(const Arguments& a, Walk<Length>& at, int mu) {
  const Geometry& g = a.geometry;
  const int here = chosen(at.site.x, mu), last = chosen(g.extent, mu) - 1;
  const bool crosses = here == (Sign > 0 ? last : 0);
  const int next = crosses ? last - here : here + Sign;
  at.site.place.block += mu == 0 ? next / 2 - here / 2 : (next - here) * chosen(g.stride, mu);
  at.site.parity ^= 1;
  QUARKSMITH_UNROLL
  for (int nu = 0; nu < directions; ++nu) at.site.x[nu] = nu == mu ? next : at.site.x[nu];
  if constexpr (has_lanes)
    if (crosses && chosen(g.split, mu) > 1) at.table[at.exchanges++] = g.lane_tables->permutation[mu][Sign > 0 ? 0 : 1];
}

/// A walk of steps +1 or -1 along directions of the call.
template <int... Signs, class... Directions>
QUARKSMITH_INLINE Walk<sizeof...(Signs)> walk(const Arguments& a, const Site& x, int mu, Directions... more) {
  Walk<sizeof...(Signs)> at(x);
  const int along[] = {mu, more...};
  int n = 0;
  (step_along<Signs>(a, at, along[n++]), ...);
  return at;
}

/// A number found at the end of a walk, as the lanes of its start see it.
template <int Length, class R>
QUARKSMITH_INLINE Complex<R> seen_from_start(const Walk<Length>& at, const Complex<R>& there) {
  Complex<R> z = there;
  for (int i = at.exchanges - 1; i >= 0; --i) z = {exchange(z.re, at.table[i]), exchange(z.im, at.table[i])};
  return z;
}

/// Exchanges lanes in place, since returning a matrix would copy it.
template <int Length, class R, int N>
QUARKSMITH_OUTLINED void seen_from_start(const Walk<Length>& at, Link<R, N>& there) {
  there = map(there, [&](const Complex<R>& z) { return seen_from_start(at, z); });
}
template <int Length, class R, int N>
QUARKSMITH_OUTLINED Colour<R, N> seen_from_start(const Walk<Length>& at, const Colour<R, N>& there) {
  return each_colour<R, N>([&](int n) { return seen_from_start(at, there.c[n]); });
}

/// Links in SU(3) of which two rows are read where all elements are stored, as Rows stores them.
template <class Links, class Rows>
struct TwoRows : Links {
  static QUARKSMITH_INLINE typename Links::Value load(const Operand& f, const Place& p, int parity, int mu) {
    if constexpr (Links::colours == 3 && Links::reals == 18) {
      const long long half = parity * f.parity_stride;
      const auto words =
          load_words<typename Links::Word, Links::lanes, Links::words / 3 * 2, directions, false, Links::words>(
              f, p, half, mu);
      return Rows::template decode<typename Links::Real>(Links::Format::template decode<Links::lanes, 12>(words).w);
    } else {
      return Links::load(f, p, parity, mu);
    }
  }
};

/// A matrix of direction mu.
template <class Links>
QUARKSMITH_INLINE typename Links::Value load_matrix(const Operand& f, const Site& x, int mu) {
  return Links::load(f, x.place, x.parity, mu);
}
template <class Links, int Length>
QUARKSMITH_INLINE typename Links::Value load_matrix(const Operand& f, const Walk<Length>& at, int mu) {
  auto u = load_matrix<Links>(f, at.site, mu);
  if constexpr (Links::lanes > 1)
    if (at.exchanges > 0) seen_from_start(at, u);
  return u;
}
/// load_matrix as a function that is not inlined, for long kernels with many loads.
template <class Links, int Length>
QUARKSMITH_OUTLINED typename Links::Value matrix_at(const Operand& f, const Walk<Length>& at, int mu) {
  return load_matrix<Links>(f, at, mu);
}

/// Complex numbers, one for each direction, as links of one colour would be stored.
template <class Codec, int W>
struct NumberView {
  static constexpr int reals = 2, words = Codec::template words<reals>, lanes = W;
  using Word = typename Codec::Word;
  using Value = Complex<Lanes<typename Codec::Element, W>>;

  static QUARKSMITH_INLINE Value load(const Operand& f, const Place& p, int parity, int mu) {
    const auto packed = load_words<Word, W, words, directions, false>(f, p, parity * f.parity_stride, mu);
    const auto r = Codec::template decode<W, reals>(packed);
    return {r.w[0], r.w[1]};
  }
};
/// The number of direction mu; of fields with one number a site it stands in that of x.
template <class Numbers>
QUARKSMITH_INLINE typename Numbers::Value load_number(const Operand& f, const Site& x, int mu) {
  return Numbers::load(f, x.place, x.parity, mu);
}
template <class Numbers, int Length>
QUARKSMITH_INLINE typename Numbers::Value load_number(const Operand& f, const Walk<Length>& at, int mu) {
  const auto z = load_number<Numbers>(f, at.site, mu);
  return Numbers::lanes > 1 && at.exchanges > 0 ? seen_from_start(at, z) : z;
}

/// The half of a field of both parities that holds one of them.
template <class Spinors>
QUARKSMITH_INLINE Operand half_of(const Operand& f, int parity) {
  Operand half = f;
  half.data = static_cast<typename Spinors::Word*>(f.data) + parity * f.parity_stride;
  if constexpr (Spinors::Format::has_norm) half.norm = f.norm + parity * (f.norm_rhs_stride / 2);
  return half;
}
/// A spinor.
template <class Spinors>
QUARKSMITH_INLINE typename Spinors::Value load_spinor(const Operand& f, const Site& x, int rhs) {
  return Spinors::load(half_of<Spinors>(f, x.parity), x.place, rhs);
}
template <class Spinors, int Length>
QUARKSMITH_INLINE typename Spinors::Value load_spinor(const Operand& f, const Walk<Length>& at, int rhs) {
  auto psi = load_spinor<Spinors>(f, at.site, rhs);
  if constexpr (Spinors::lanes == 1) return psi;
  if (at.exchanges == 0) return psi;
  QUARKSMITH_UNROLL
  for (auto& v : psi.s) v = seen_from_start(at, v);
  return psi;
}

/// Takes a fermion across the end of its lane's sub-lattice: exchanges lanes, and applies the boundary phase.
template <class R, int S, int N>
QUARKSMITH_OUTLINED Spinor<R, S, N> across(const Arguments& a, const Spinor<R, S, N>& from, int mu, int back) {
  using E = Element<R>;
  const E re = scalar<R>(a.hops.edge_re[mu][back]), forward = scalar<R>(a.hops.edge_im[mu][back]);
  const E im = back != 0 ? -forward : forward;  // a backward hop takes the conjugate phase
  Complex<R> phase = {R{} + re, R{} + im};
  Spinor<R, S, N> psi = from;
  if (a.geometry.split[mu] > 1) {
    const int* table = a.geometry.lane_tables->permutation[mu][back];
    const int* crossing = a.geometry.lane_tables->crossing[mu][back];
    phase = {where_crossing<R>(crossing, re, E(1)), where_crossing<R>(crossing, im, E(0))};
    const auto moved = [table](const Complex<R>& z) {
      return Complex<R>{exchange(z.re, table), exchange(z.im, table)};
    };
    QUARKSMITH_UNROLL
    for (auto& v : psi.s) v = each_colour<R, N>([&](int n) { return moved(v.c[n]); });
  }
  QUARKSMITH_UNROLL
  for (auto& v : psi.s) v = phase * v;
  return psi;
}

/// The boundary that a step crosses, as across takes it, or none.
QUARKSMITH_INLINE int boundary(int x, int extent, int mu, int back) {
  return x == (back != 0 ? 0 : extent - 1) ? 2 * mu + back : -1;
}

/// One step of a fermion, which notes where it left its sub-lattice.
template <int Step, int Length>
QUARKSMITH_INLINE void noted_step(const Arguments& a, Walk<Length>& at, int& left) {
  constexpr int mu = (Step > 0 ? Step : -Step) - 1;
  left = boundary(at.site.x[mu], a.geometry.extent[mu], mu, Step < 0);
  step<mu, (Step > 0 ? 1 : -1)>(a, at);
}

template <int Sign, int Length>
QUARKSMITH_INLINE void noted_step_along(const Arguments& a, Walk<Length>& at, int mu, int& left) {
  left = boundary(chosen(at.site.x, mu), chosen(a.geometry.extent, mu), mu, Sign < 0);
  step_along<Sign>(a, at, mu);
}

/// A fermion at the end of a walk, with the phases (Arguments::hops) of the boundaries on its way.
template <class Spinors, int Length>
QUARKSMITH_INLINE typename Spinors::Value load_arriving(const Arguments& a, const Operand& f, const Walk<Length>& at,
                                                        int rhs, const int (&left)[Length]) {
  auto psi = load_spinor<Spinors>(f, at.site, rhs);
  QUARKSMITH_UNROLL
  for (int i = Length - 1; i >= 0; --i)
    if (left[i] >= 0) psi = across(a, psi, left[i] / 2, left[i] & 1);
  return psi;
}
template <class Spinors, int... Steps>
QUARKSMITH_INLINE typename Spinors::Value load_fermion(const Arguments& a, const Operand& f, const Site& x, int rhs) {
  Walk<sizeof...(Steps)> at(x);
  int left[sizeof...(Steps)], n = 0;
  (noted_step<Steps>(a, at, left[n++]), ...);
  return load_arriving<Spinors>(a, f, at, rhs, left);
}
/// The same for steps +1 or -1 along directions of the call.
template <class Spinors, int... Signs, class... Directions>
QUARKSMITH_INLINE typename Spinors::Value load_fermion(const Arguments& a, const Operand& f, const Site& x, int rhs,
                                                       int mu, Directions... more) {
  Walk<sizeof...(Signs)> at(x);
  const int along[] = {mu, more...};
  int left[sizeof...(Signs)], n = 0;
  ((noted_step_along<Signs>(a, at, along[n], left[n]), ++n), ...);
  return load_arriving<Spinors>(a, f, at, rhs, left);
}
template <class Spinors>
QUARKSMITH_INLINE void store_spinor(const Operand& f, const Site& x, int rhs, const typename Spinors::Value& psi) {
  Spinors::store(half_of<Spinors>(f, x.parity), x.place, rhs, psi);
}

// --- arithmetic ------------------------------------------------------------------------------------------------------

/// f of each colour vector.
template <class R, int S, int N, class F>
QUARKSMITH_INLINE Spinor<R, S, N> each(const F& f) {
  Spinor<R, S, N> result;
  QUARKSMITH_UNROLL
  for (int s = 0; s < S; ++s) result[s] = f(s);
  return result;
}
template <class R, int S, int N>
QUARKSMITH_INLINE Spinor<R, S, N> operator+(const Spinor<R, S, N>& a, const Spinor<R, S, N>& b) {
  return each<R, S, N>([&](int s) { return a[s] + b[s]; });
}
template <class R, int S, int N>
QUARKSMITH_INLINE Spinor<R, S, N> operator-(const Spinor<R, S, N>& a, const Spinor<R, S, N>& b) {
  return each<R, S, N>([&](int s) { return a[s] - b[s]; });
}
template <class R, int S, int N>
QUARKSMITH_INLINE Spinor<R, S, N> operator-(const Spinor<R, S, N>& a) {
  return each<R, S, N>([&](int s) { return -a[s]; });
}
template <class R, int S, int N>
QUARKSMITH_INLINE Spinor<R, S, N> operator*(const R& a, const Spinor<R, S, N>& b) {
  return each<R, S, N>([&](int s) { return a * b[s]; });
}
template <class R, int S, int N>
QUARKSMITH_INLINE Spinor<R, S, N> operator*(const Complex<R>& a, const Spinor<R, S, N>& b) {
  return each<R, S, N>([&](int s) { return a * b[s]; });
}
template <class R, int S, int N>
QUARKSMITH_INLINE Spinor<R, S, N> mul(const Link<R, N>& u, const Spinor<R, S, N>& b) {
  return each<R, S, N>([&](int s) { return mul(u, b[s]); });
}
template <class R, int S, int N>
QUARKSMITH_INLINE Spinor<R, S, N> mul_adj(const Link<R, N>& u, const Spinor<R, S, N>& b) {
  return each<R, S, N>([&](int s) { return mul_adj(u, b[s]); });
}
template <class R, int S, int N>
QUARKSMITH_INLINE Spinor<R, S, N>& operator+=(Spinor<R, S, N>& a, const Spinor<R, S, N>& b) {
  return a = a + b;
}
template <class R, int S, int N>
QUARKSMITH_INLINE Spinor<R, S, N>& operator-=(Spinor<R, S, N>& a, const Spinor<R, S, N>& b) {
  return a = a - b;
}
template <class R, int N>
QUARKSMITH_INLINE Link<R, N>& operator-=(Link<R, N>& a, const Link<R, N>& b) {
  return a = a - b;
}
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> operator*(const Complex<R>& a, const Link<R, N>& u) {
  return map(u, [&a](const Complex<R>& z) { return a * z; });
}
/// u v as a function that is not inlined: with many inlined products compilers for CPUs take minutes.
template <class R, int N>
QUARKSMITH_FUNCTION Link<R, N> product(const Link<R, N>& u, const Link<R, N>& v) {
  return u * v;
}
/// The same of spinors.
template <class R, int S, int N>
QUARKSMITH_OUTLINED Spinor<R, S, N> product(const Link<R, N>& u, const Spinor<R, S, N>& b) {
  return mul(u, b);
}
template <class R, int S, int N>
QUARKSMITH_OUTLINED Spinor<R, S, N> product_adj(const Link<R, N>& u, const Spinor<R, S, N>& b) {
  return mul_adj(u, b);
}
template <class R>
QUARKSMITH_INLINE Complex<R>& operator+=(Complex<R>& a, const Complex<R>& b) {
  return a = a + b;
}
template <class R>
QUARKSMITH_INLINE Complex<R>& operator-=(Complex<R>& a, const Complex<R>& b) {
  return a = a - b;
}
/// The matrix sum a b^+ over spins.
template <class R, int S, int N>
QUARKSMITH_FUNCTION Link<R, N> outer(const Spinor<R, S, N>& a, const Spinor<R, S, N>& b) {
  MatrixRows<R, N> sum = {};
  QUARKSMITH_UNROLL
  for (int s = 0; s < S; ++s) {
    const Colour<R, N> right = each_colour<R, N>([&](int n) { return conj(b[s].c[n]); });
    QUARKSMITH_UNROLL
    for (int n = 0; n < N * N; ++n)
      sum(n / N, n % N) = add_product<1>(sum(n / N, n % N), a[s].c[n / N], right.c[n % N]);
  }
  return matrix(sum);
}
/// sum conj(a) b
template <class R, int S, int N>
QUARKSMITH_INLINE Complex<R> dot(const Spinor<R, S, N>& a, const Spinor<R, S, N>& b) {
  Complex<R> sum = {R{}, R{}};
  QUARKSMITH_UNROLL
  for (int s = 0; s < S; ++s) {
    QUARKSMITH_UNROLL
    for (int n = 0; n < N; ++n) sum = add_product<1>(sum, conj(a[s].c[n]), b[s].c[n]);
  }
  return sum;
}

}  // namespace quarksmith::QUARKSMITH_TARGET
