/// \file
/// Derivatives of functions of 3x3 matrices, in adjoint form: from the derivative by the value to that by the argument.
/// Include after runtime/expression_site.hpp.
#pragma once

#include "runtime/kernels/su3.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// f[0..2] of exp(iQ) = sum_j f[j] Q^j, and their derivatives b[j] by c1 = tr Q^2 / 2, b[3 + j] by c0 = det Q, from the
/// power series with Q^3 = c0 + c1 Q: the closed form below divides by c1^2.
QUARKSMITH_FUNCTION void exponential_series(double c0, double c1, Complex<double>* f, Complex<double>* b) {
  double power[9] = {1};  // Q^n = power[0] + power[1] Q + power[2] Q^2; then the same by c1 and by c0
  double weight = 1;
  for (int j = 0; j < 3; ++j) f[j] = b[j] = b[3 + j] = {0, 0};
  for (int n = 0; n < 26; ++n) {
    if (n == 16 && c1 < 1.0 / 16) break;  // what is left is 1e-18
    const double signed_weight = (n & 2) != 0 ? -weight : weight;
    const double re = (n & 1) != 0 ? 0 : signed_weight, im = (n & 1) != 0 ? signed_weight : 0;
    for (int j = 0; j < 3; ++j) {
      f[j] = {f[j].re + re * power[j], f[j].im + im * power[j]};
      b[j] = {b[j].re + re * power[3 + j], b[j].im + im * power[3 + j]};
      b[3 + j] = {b[3 + j].re + re * power[6 + j], b[3 + j].im + im * power[6 + j]};
    }
    const double last = power[2];
    for (int k = 0; k < 9; k += 3) {
      const double top = power[k + 2];
      power[k + 2] = power[k + 1];
      power[k + 1] = power[k] + c1 * top + (k == 3 ? last : 0);
      power[k] = c0 * top + (k == 6 ? last : 0);
    }
    weight /= n + 1;
  }
}

/// The same for c1 of the order of 1 and larger: C. Morningstar and M. Peardon, hep-lat/0311018, eqs. 57-68.
QUARKSMITH_FUNCTION void exponential_derivatives(double c0, double c1, Complex<double>* f, Complex<double>* b) {
  if (c1 < 1) return exponential_series(c0, c1, f, b);
  constexpr double pi = 3.14159265358979323846;
  const double size = absolute(c0), root = root_of(c1 / 3), largest = 2 * root * c1 / 3;
  exponential_factors(size, c1, f);
  const double theta = arc_cosine(size < largest ? size / largest : 1.0) / (3 * pi);
  const double u = root * cosine_pi(theta), w = root_of(c1) * sine_pi(theta), u2 = u * u, w2 = w * w;
  const double cosine = cosine_pi(w / pi);
  const double xi0 = w < 0.05 ? 1 - w2 / 6 * (1 - w2 / 20 * (1 - w2 / 42)) : sine_pi(w / pi) / w;
  const double xi1 = w < 0.05 ? -(1 - w2 / 10 * (1 - w2 / 28 * (1 - w2 / 54))) / 3 : (cosine - xi0) / w2;
  const Complex<double> once = {cosine_pi(u / pi), -sine_pi(u / pi)};          // exp(-iu)
  const Complex<double> twice = {cosine_pi(2 * u / pi), sine_pi(2 * u / pi)};  // exp(2iu)
  const auto z = [](double re, double im) { return Complex<double>{re, im}; };
  // r[j] of eqs. 60-62, r[3 + j] of eqs. 63-65
  const Complex<double> r[6] = {
      2.0 * (z(u, u2 - w2) * twice +
             once * z(8 * u * cosine + u * (3 * u2 + w2) * xi0, -4 * u2 * cosine + (9 * u2 + w2) * xi0)),
      2.0 * (z(1, 2 * u) * twice) + once * z(-2 * cosine - (w2 - 3 * u2) * xi0, 2 * u * cosine + 6 * u * xi0),
      z(0, 2) * twice + once * z(-3 * u * xi0, cosine - 3 * xi0),
      -2.0 * twice + 2.0 * u * (once * z(-4 * u * xi0, cosine + xi0 + 3 * u2 * xi1)),
      once * z(2 * u * xi0, -cosine - xi0 + 3 * u2 * xi1),
      once * z(xi0, -3 * u * xi1)};
  const double d = 9 * u2 - w2, scale = 0.5 / (d * d);
  for (int j = 0; j < 3; ++j) {
    b[j] = scale * (2 * u * r[j] + (3 * u2 - w2) * r[3 + j] - 2 * (15 * u2 + w2) * f[j]);
    b[3 + j] = scale * (r[j] - 3 * u * r[3 + j] - 24 * u * f[j]);
  }
  if (c0 >= 0) return;
  for (int j = 0; j < 3; ++j) {  // f_j(-c0, c1) = (-1)^j conj f_j(c0, c1)
    const double even = j == 1 ? -1.0 : 1.0;
    f[j] = even * conj(f[j]);
    b[j] = even * conj(b[j]);
    b[3 + j] = -even * conj(b[3 + j]);
  }
}

/// tr a b
template <class R>
QUARKSMITH_INLINE Complex<R> trace_of_product(const Link<R>& a, const Link<R>& b) {
  return sum_of_products(a.a0, b.a0, a.a1, b.b0, a.a2, b.c0) + sum_of_products(a.b0, b.a1, a.b1, b.b1, a.b2, b.c1) +
         sum_of_products(a.c0, b.a2, a.c1, b.b2, a.c2, b.c2);
}

/// The element of the algebra A with Re tr(d exp(a) c) = Re tr(da A), a anti-Hermitian and traceless: ibid., eq. 74.
template <class R>
QUARKSMITH_FUNCTION Link<R> exponential_adjoint(const Link<R>& a, const Link<R>& c) {
  const Link<R> square = -(a * a);                                      // Q^2, a = i Q
  const R c1 = broadcast<R>(0.5) * trace(square).re;                    //
  const R c0 = broadcast<R>(1.0 / 3) * trace_of_product(square, a).im;  // det Q
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  Complex<R> f[3], b[6];
  for (int l = 0; l < lanes; ++l) {
    Complex<double> g[9];
    exponential_derivatives(double(get_lane(c0, l)), double(get_lane(c1, l)), g, g + 3);
    const auto put = [l](Complex<R>& to, const Complex<double>& from) {
      set_lane(to.re, l, Element<R>(from.re));
      set_lane(to.im, l, Element<R>(from.im));
    };
    QUARKSMITH_UNROLL
    for (int n = 0; n < 3; ++n) put(f[n], g[n]), put(b[n], g[3 + n]), put(b[3 + n], g[6 + n]);
  }
  const auto turned = [](const Complex<R>& z) { return Complex<R>{z.im, -z.re}; };  // -i z
  const Complex<R> t0 = trace(c), t1 = turned(trace_of_product(a, c)), t2 = trace_of_product(square, c);
  const Complex<R> s1 = turned(turned(sum_of_products(b[0], t0, b[1], t1, b[2], t2)));  // of Q = -ia, all times -i
  const Complex<R> s2 = turned(sum_of_products(b[3], t0, b[4], t1, b[5], t2));
  const Complex<R> g1 = turned(f[1]), g2 = turned(turned(f[2]));
  Link<R> sum = map(a, [&](const Complex<R>& z) { return s1 * z; });
  sum += map(square, [&](const Complex<R>& z) { return s2 * z; });
  sum += map(c, [&](const Complex<R>& z) { return g1 * z; });
  sum += map(a * c + c * a, [&](const Complex<R>& z) { return g2 * z; });
  return traceless_antihermitian(sum);
}

/// The same of any number of colours: the derivative along c of exp(a).
template <class R, int N>
QUARKSMITH_FUNCTION Link<R, N> exponential_adjoint(const Link<R, N>& a, const Link<R, N>& c) {
  Link<R, N> sum = a;
  constexpr int lanes = sizeof(R) / sizeof(Element<R>);
  for (int l = 0; l < lanes; ++l) {
    Link<double, N> derivative;
    exponential_series<N>(lane_of(a, l), lane_of(c, l), &derivative);
    set_lane_of(sum, l, derivative);
  }
  return traceless_antihermitian(sum);
}

/// Matrices v with |(v^+ v)^-1| larger than the inverse of this have a damped derivative: rounding errors and forces
/// diverge where the projection is singular (A. Bazavov et al., arXiv:1004.0342, appendix).
inline constexpr double smallest_eigenvalue = 5e-5;

/// `value` for matrices with damped derivative, given (v^+)^-1, else 0.
template <class R>
QUARKSMITH_INLINE R where_damped(const Link<R>& inverse, const R& value) {
  return where_less(broadcast<R>(1 / smallest_eigenvalue), norm2(inverse), value);
}

/// 1 for a matrix whose nearest_unitary_adjoint is damped, else 0.
template <class R>
QUARKSMITH_FUNCTION R damped_adjoint(const Link<R>& v) {
  return where_damped(adjoint_inverse(v), broadcast<R>(1));
}

/// w = x (x^+ x)^(-1/2) for x of moderate condition. The root h of g = x^+ x has e1^2 = g1 + 2 e2, e2^2 = g2 + 2 e1 e3,
/// e3^2 = g3 (L. P. Franca, Comput. Math. Appl. 18 (1989) 459), which Newton's iteration solves, and by its own
/// characteristic equation h = (e2^2 - e1 e3 + e2 g - adj g) / (e1 e2 - e3), 1 / h = (g - e1 h + e2) / e3.
template <class R>
QUARKSMITH_INLINE Link<R> unitary_part(const Link<R>& x) {
  const Link<R> g = mirrored<1>(adj(x) * x);
  const Invariants<R> of(g);
  const R two = broadcast<R>(2), half = broadcast<R>(0.5), e3 = square_root(of.e3);
  R e2 = square_root(of.e2), e1 = square_root(of.e1 + two * e2);
  e2 = square_root(of.e2 + two * (e1 * e3));
  constexpr int steps = 4;  // 2e-2 at the start where all eigenvalues are equal, less elsewhere
  QUARKSMITH_UNROLL
  for (int n = 0; n < steps; ++n) {
    const R f1 = of.e1 + two * e2 - e1 * e1, f2 = of.e2 + two * (e1 * e3) - e2 * e2;
    const R d = half * reciprocal(e1 * e2 - e3), next = e1 + d * (e2 * f1 + f2);
    e2 = e2 + d * (e3 * f1 + e1 * f2);
    e1 = next;
  }
  const R scale = reciprocal(e1 * e2 - e3), inverse = reciprocal(e3);
  const Link<R> h = plus_multiple_of_unit((scale * e2) * g - scale * of.adjugate, scale * (e2 * e2 - e1 * e3));
  return x * plus_multiple_of_unit(inverse * g - (inverse * e1) * h, inverse * e2);
}

/// The matrix A with Re tr(dw c) = Re tr(dv A) for w = v (v^+ v)^(-1/2), v = w h: A = 2 y w^+ with y h + h y = b, the
/// anti-Hermitian part of c w. One step of Newton's iteration for w (nearest_unitary), of which the inverse is known,
/// takes the root of the condition of v.
template <class R>
QUARKSMITH_FUNCTION Link<R> nearest_unitary_adjoint(const Link<R>& v, const Link<R>& c) {
  const Link<R> inverse = adjoint_inverse(v);
  const R damped = where_damped(inverse, broadcast<R>(root_of(smallest_eigenvalue)));
  const R scale = square_root(square_root(norm2(inverse) * reciprocal(norm2(v))));
  const Link<R> w = unitary_part(scale * v + reciprocal(scale) * inverse);
  const Link<R> cw = c * w, h = plus_multiple_of_unit(mirrored<1>(adj(w) * v), damped);
  return half_of_anticommutator(h, Invariants<R>(h), cw - adj(cw)) * adj(w);
}

/// The matrix A with Re tr(dx c) = Re tr(dv A) for the element x of SU(3) that maximises Re tr(x^+ v): there x^+ v = h
/// + i alpha with a Hermitian h, so that dx = x y with {y, h}/2 = [x^+ dv]_TA but for traces, and A = z x^+ with {z,
/// h}/2 = [c x]_TA likewise, y and z traceless.
template <class R>
QUARKSMITH_FUNCTION Link<R> closest_su3_adjoint(const Link<R>& v, const Link<R>& c) {
  const Link<R> x = closest_su3(v), p = adj(x) * v;
  const R half = broadcast<R>(0.5);
  const Link<R> h = mirrored<1>(half * (p + adj(p)));
  const Invariants<R> of(h);
  const Link<R> y = half_of_anticommutator(h, of, traceless_antihermitian(c * x));
  const R tau = -trace(y).im * reciprocal(of.e2);  // times i / h, which solves for i times the unit matrix
  const R two = broadcast<R>(2);
  return (two * y + two * times_i(tau * of.adjugate)) * adj(x);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
