/// \file
/// Functions of NxN matrices that lattice expressions use: Lie algebra, exponential, closest element of SU(N). Include
/// after runtime/kernels/kernel.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

template <class R, int N = 3>
QUARKSMITH_INLINE Link<R, N> unit_matrix() {
  return matrix_of<R, N>([](int i, int j) { return Complex<R>{broadcast<R>(i == j ? 1 : 0), R{}}; });
}

/// (m - m^+)/2 - tr(m - m^+)/(2 N)
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> traceless_antihermitian(const Link<R, N>& m) {
  const auto e = rows(m);
  R sum = e(0, 0).im;
  QUARKSMITH_UNROLL
  for (int n = 1; n < N; ++n) sum = sum + e(n, n).im;
  const R half = broadcast<R>(0.5), mean = broadcast<R>(1.0 / N) * sum;
  return matrix_of<R, N>(
      [&](int i, int j) { return i == j ? Complex<R>{R{}, e(i, i).im - mean} : half * (e(i, j) - conj(e(j, i))); });
}

/// exp(iQ) = f[0] + f[1] Q + f[2] Q^2 for Hermitian traceless Q with c0 = det Q and c1 = tr Q^2 / 2: C. Morningstar
/// and M. Peardon, hep-lat/0311018, eqs. 23-34.
QUARKSMITH_FUNCTION void exponential_factors(double c0, double c1, Complex<double>* f) {
  if (c1 < 1e-7) {  // Q^3 = c0 + c1 Q; what is left out is of order c1^2
    f[0] = {1, -c0 / 6};
    f[1] = {c0 / 24, 1 - c1 / 6};
    f[2] = {-0.5 + c1 / 24, 0};
    return;
  }
  constexpr double pi = 3.14159265358979323846;
  const double size = absolute(c0), root = root_of(c1 / 3), largest = 2 * root * c1 / 3;
  const double theta = arc_cosine(size < largest ? size / largest : 1.0) / (3 * pi);
  const double u = root * cosine_pi(theta), w = root_of(c1) * sine_pi(theta), w2 = w * w;
  const double xi = w < 0.05 ? 1 - w2 / 6 * (1 - w2 / 20 * (1 - w2 / 42)) : sine_pi(w / pi) / w;
  const double cosine = cosine_pi(w / pi), scale = 1 / (9 * u * u - w2);
  const Complex<double> once = {cosine_pi(u / pi), -sine_pi(u / pi)};              // exp(-iu)
  const Complex<double> twice = {cosine_pi(2 * u / pi), sine_pi(2 * u / pi)};      // exp(2iu)
  const Complex<double> h0 = {8 * u * u * cosine, 2 * u * (3 * u * u + w2) * xi};  // of exp(-iu)
  const Complex<double> h1 = {2 * u * cosine, -(3 * u * u - w2) * xi}, h2 = {cosine, 3 * u * xi};
  f[0] = scale * ((u * u - w2) * twice + once * h0);
  f[1] = scale * (2 * u * twice - once * h1);
  f[2] = scale * (twice - once * h2);
  if (c0 < 0) {  // f_j(-c0, c1) = (-1)^j conj f_j(c0, c1)
    f[0] = conj(f[0]);
    f[1] = -conj(f[1]);
    f[2] = conj(f[2]);
  }
}

/// exp(a) of an anti-Hermitian traceless matrix
template <class R>
QUARKSMITH_FUNCTION Link<R> exponential(const Link<R>& a) {
  const Link<R> square = -(a * a);  // Q^2, a = i Q
  const R c1 = broadcast<R>(0.5) * trace(square).re;
  const R c0 = broadcast<R>(1.0 / 3) * trace(square * a).im;  // tr Q^3 / 3 = det Q
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  Complex<R> f[3];
  for (int l = 0; l < lanes; ++l) {
    Complex<double> g[3];
    exponential_factors(double(get_lane(c0, l)), double(get_lane(c1, l)), g);
    QUARKSMITH_UNROLL
    for (int n = 0; n < 3; ++n) {
      set_lane(f[n].re, l, Element<R>(g[n].re));
      set_lane(f[n].im, l, Element<R>(g[n].im));
    }
  }
  const Complex<R> first = {f[1].im, -f[1].re};  // Q = -i a
  Link<R> sum = map(a, [&](const Complex<R>& z) { return first * z; }) +
                map(square, [&](const Complex<R>& z) { return f[2] * z; });
  sum.a0 = sum.a0 + f[0];
  sum.b1 = sum.b1 + f[0];
  sum.c2 = sum.c2 + f[0];
  return sum;
}

/// exp(a) and, in *d, its derivative along c, int_0^1 ds exp(s a) c exp((1 - s) a), of one lane: series of a / 2^k,
/// squared k times.
template <int N>
QUARKSMITH_FUNCTION Link<double, N> exponential_series(Link<double, N> a, Link<double, N> c, Link<double, N>* d) {
  double size = trace(a * adj(a)).re, scale = 1;
  int squarings = 0;
  for (; size > 1.0 / 64; size /= 4, scale /= 2) ++squarings;
  a = scale * a, c = scale * c;
  Link<double, N> power = unit_matrix<double, N>(), sum = power, along = {}, derivative = {};
  constexpr int terms = 10;  // what is left of |a| = 1/8 is 1e-17
  for (int n = 1; n <= terms; ++n) {
    const double weight = 1.0 / n;
    along = weight * (c * power + a * along);
    power = weight * (a * power);
    sum += power;
    derivative += along;
  }
  for (int k = 0; k < squarings; ++k) {
    derivative = derivative * sum + sum * derivative;
    sum = sum * sum;
  }
  *d = derivative;
  return sum;
}

/// exp(a) of an anti-Hermitian matrix of any number of colours.
template <class R, int N>
QUARKSMITH_FUNCTION Link<R, N> exponential(const Link<R, N>& a) {
  Link<R, N> u = a;
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  for (int l = 0; l < lanes; ++l) {
    Link<double, N> derivative;
    set_lane_of(u, l, exponential_series<N>(lane_of(a, l), {}, &derivative));
  }
  return u;
}

/// The SU(2) element that maximises Re tr of the product.
struct Maximise {
  template <int N>
  static QUARKSMITH_INLINE Quaternion choose_su2(const Arguments&, const Quaternion& v, double, Random&) {
    return conj(v);
  }
};

/// The SU(N) matrix u that maximises Re tr(u^+ m), for one lane: passes over the SU(2) subgroups until u^+ m is
/// Hermitian up to a multiple of i.
template <int N>
QUARKSMITH_FUNCTION Link<double, N> closest_su3_of(const Link<double, N>& m) {
  auto start = rows(m);
  reunitarise(start);
  Link<double, N> u = matrix(start);
  const Link<double, N> to = adj(m);
  const Arguments none{};
  Random unused(none.random, 0);
  for (int pass = 0; pass < 200; ++pass) {
    const Link<double, N> product = u * to;
    const auto left = rows(traceless_antihermitian(product));
    double off = 0;
    for (int i = 0; i < N; ++i)
      for (int j = i; j < N; ++j) off += norm2(left(i, j));
    const double size = trace(product).re;
    if (!(off > 1e-31 * size * size)) break;
    update_link<Maximise>(none, u, to, unused);
  }
  return u;
}

/// A product of hits of SU(2) subgroups, (1,2), (2,3), (1,3) for three colours, each of which maximises Re tr(g m),
/// gone beyond by the boost: for one lane.
template <int N>
QUARKSMITH_FUNCTION Link<double, N> relaxed_hits_of(const Link<double, N>& m, double boost) {
  auto all = rows(unit_matrix<double, N>()), product = rows(m);
  for (int apart = 1; apart < N; ++apart)
    for (int i = 0, j = apart; j < N; ++i, ++j) {
      double size;
      Quaternion g = conj(block_direction(product(i, i), product(i, j), product(j, i), product(j, j), size));
      if (size <= 1e-30) continue;                                             // every hit is as good
      const double first = g.a0 * g.a0, beyond = boost * first + (1 - first);  // |g| = 1
      const double norm = 1 / square_root(first + beyond * beyond * (1 - first));
      g = {norm * g.a0, norm * beyond * g.a1, norm * beyond * g.a2, norm * beyond * g.a3};
      rotate_rows(g, all.row[i], all.row[j]);
      rotate_rows(g, product.row[i], product.row[j]);
    }
  return matrix(all);
}
template <class R, int N>
QUARKSMITH_FUNCTION Link<R, N> relaxed_hits(const Link<R, N>& m, const R& boost) {
  Link<R, N> u = m;
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  for (int l = 0; l < lanes; ++l) set_lane_of(u, l, relaxed_hits_of(lane_of(m, l), double(get_lane(boost, l))));
  return u;
}

/// closest_su3_of for all lanes.
template <class R, int N>
QUARKSMITH_FUNCTION Link<R, N> closest_su3(const Link<R, N>& m) {
  Link<R, N> u = m;
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  for (int l = 0; l < lanes; ++l) set_lane_of(u, l, closest_su3_of(lane_of(m, l)));
  return u;
}

}  // namespace quarksmith::QUARKSMITH_TARGET
