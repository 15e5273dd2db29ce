/// \file
/// Functions of 3x3 matrices that lattice expressions use: Lie algebra, exponential, closest element of SU(3). Include
/// after runtime/kernels/kernel.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

template <class R>
QUARKSMITH_INLINE Link<R> unit_matrix() {
  const Complex<R> one = {broadcast<R>(1), R{}}, zero = {R{}, R{}};
  return {one, zero, zero, zero, one, zero, zero, zero, one};
}

/// (m - m^+)/2 - tr(m - m^+)/6
template <class R>
QUARKSMITH_INLINE Link<R> traceless_antihermitian(const Link<R>& m) {
  const R half = broadcast<R>(0.5), third = broadcast<R>(1.0 / 3);
  const R mean = third * (m.a0.im + m.b1.im + m.c2.im);
  const Complex<R> a1 = half * (m.a1 - conj(m.b0)), a2 = half * (m.a2 - conj(m.c0)), b2 = half * (m.b2 - conj(m.c1));
  return {{R{}, m.a0.im - mean}, a1, a2, -conj(a1), {R{}, m.b1.im - mean}, b2, -conj(a2), -conj(b2),
          {R{}, m.c2.im - mean}};
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

/// The SU(2) element that maximises Re tr of the product.
struct Maximise {
  static QUARKSMITH_INLINE Quaternion choose_su2(const Arguments&, const Quaternion& v, double, Random&) {
    return conj(v);
  }
};

/// The SU(3) matrix u that maximises Re tr(u^+ m), for one lane: passes over the SU(2) subgroups until u^+ m is
/// Hermitian up to a multiple of i.
QUARKSMITH_FUNCTION Link<double> closest_su3_of(const Link<double>& m) {
  Colour<double> a = {m.a0, m.a1, m.a2}, b = {m.b0, m.b1, m.b2}, c = {m.c0, m.c1, m.c2};
  reunitarise(a, b, c);
  Link<double> u = {a.c0, a.c1, a.c2, b.c0, b.c1, b.c2, c.c0, c.c1, c.c2};
  const Link<double> to = adj(m);
  const Arguments none{};
  Random unused(none.random, 0);
  for (int pass = 0; pass < 200; ++pass) {
    const Link<double> product = u * to;
    const Link<double> left = traceless_antihermitian(product);
    const double off =
        norm2(left.a0) + norm2(left.a1) + norm2(left.a2) + norm2(left.b1) + norm2(left.b2) + norm2(left.c2);
    const double size = trace(product).re;
    if (!(off > 1e-31 * size * size)) break;
    update_link<Maximise>(none, u, to, unused);
  }
  return u;
}

/// The same for all lanes.
template <class R>
QUARKSMITH_FUNCTION Link<R> closest_su3(const Link<R>& m) {
  Link<R> u = m;
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  for (int l = 0; l < lanes; ++l) {
    const auto pick = [l](const Complex<R>& z) {
      return Complex<double>{double(get_lane(z.re, l)), double(get_lane(z.im, l))};
    };
    const Link<double> one = closest_su3_of(map(m, pick));
    const auto put = [l](Complex<R>& to, const Complex<double>& z) {
      set_lane(to.re, l, Element<R>(z.re));
      set_lane(to.im, l, Element<R>(z.im));
    };
    put(u.a0, one.a0), put(u.a1, one.a1), put(u.a2, one.a2);
    put(u.b0, one.b0), put(u.b1, one.b1), put(u.b2, one.b2);
    put(u.c0, one.c0), put(u.c1, one.c1), put(u.c2, one.c2);
  }
  return u;
}

}  // namespace quarksmith::QUARKSMITH_TARGET
