/// \file
/// Complex numbers, colour vectors and colour matrices of a kernel. R is the target's real type: float, double or a
/// vector of lanes. Include after the target's header.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

template <class R>
struct Complex {
  R re, im;
};

template <class R>
QUARKSMITH_INLINE Complex<R> operator+(const Complex<R>& a, const Complex<R>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
QUARKSMITH_INLINE Complex<R> operator-(const Complex<R>& a, const Complex<R>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
QUARKSMITH_INLINE Complex<R> operator-(const Complex<R>& a) {
  return {-a.re, -a.im};
}
template <class R>
QUARKSMITH_INLINE Complex<R> operator*(const Complex<R>& a, const Complex<R>& b) {
  return {multiply_add(a.re, b.re, -(a.im * b.im)), multiply_add(a.re, b.im, a.im * b.re)};
}
template <class R>
QUARKSMITH_INLINE Complex<R> operator*(const R& a, const Complex<R>& b) {
  return {a * b.re, a * b.im};
}
template <class R>
QUARKSMITH_INLINE Complex<R> conj(const Complex<R>& a) {
  return {a.re, -a.im};
}
template <class R>
QUARKSMITH_INLINE Complex<R> times_i(const Complex<R>& a) {
  return {-a.im, a.re};
}
/// |a|^2
template <class R>
QUARKSMITH_INLINE R norm2(const Complex<R>& a) {
  return a.re * a.re + a.im * a.im;
}
/// sum + Sign a x as a chain of multiply-adds, which the compiler does not make of sums of differences.
template <int Sign, class R>
QUARKSMITH_INLINE Complex<R> add_product(const Complex<R>& sum, const Complex<R>& a, const Complex<R>& x) {
  const R re = Sign > 0 ? a.re : -a.re, im = Sign > 0 ? a.im : -a.im;
  return {multiply_add(-im, x.im, multiply_add(re, x.re, sum.re)),
          multiply_add(im, x.re, multiply_add(re, x.im, sum.im))};
}
/// a x + b y
template <class R>
QUARKSMITH_INLINE Complex<R> sum_of_products(const Complex<R>& a, const Complex<R>& x, const Complex<R>& b,
                                             const Complex<R>& y) {
  return add_product<1>(a * x, b, y);
}
/// a x - b y
template <class R>
QUARKSMITH_INLINE Complex<R> difference_of_products(const Complex<R>& a, const Complex<R>& x, const Complex<R>& b,
                                                    const Complex<R>& y) {
  return add_product<-1>(a * x, b, y);
}
/// a x + b y + c z
template <class R>
QUARKSMITH_INLINE Complex<R> sum_of_products(const Complex<R>& a, const Complex<R>& x, const Complex<R>& b,
                                             const Complex<R>& y, const Complex<R>& c, const Complex<R>& z) {
  return add_product<1>(sum_of_products(a, x, b, y), c, z);
}
/// conj(a) x + conj(b) y + conj(c) z
template <class R>
QUARKSMITH_INLINE Complex<R> sum_of_conj_products(const Complex<R>& a, const Complex<R>& x, const Complex<R>& b,
                                                  const Complex<R>& y, const Complex<R>& c, const Complex<R>& z) {
  return sum_of_products(conj(a), x, conj(b), y, conj(c), z);
}

/// Three complex numbers: one spin component of a quark field.
template <class R>
struct Colour {
  Complex<R> c0, c1, c2;
};

template <class R>
QUARKSMITH_INLINE Colour<R> operator+(const Colour<R>& a, const Colour<R>& b) {
  return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2};
}
template <class R>
QUARKSMITH_INLINE Colour<R> operator-(const Colour<R>& a, const Colour<R>& b) {
  return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
}
template <class R>
QUARKSMITH_INLINE Colour<R> operator-(const Colour<R>& a) {
  return {-a.c0, -a.c1, -a.c2};
}
template <class R>
QUARKSMITH_INLINE Colour<R> operator*(const R& a, const Colour<R>& b) {
  return {a * b.c0, a * b.c1, a * b.c2};
}
template <class R>
QUARKSMITH_INLINE Colour<R> operator*(const Complex<R>& a, const Colour<R>& b) {
  return {a * b.c0, a * b.c1, a * b.c2};
}
template <class R>
QUARKSMITH_INLINE Colour<R>& operator+=(Colour<R>& a, const Colour<R>& b) {
  return a = a + b;
}
template <class R>
QUARKSMITH_INLINE Colour<R>& operator-=(Colour<R>& a, const Colour<R>& b) {
  return a = a - b;
}
template <class R>
QUARKSMITH_INLINE Colour<R> times_i(const Colour<R>& a) {
  return {times_i(a.c0), times_i(a.c1), times_i(a.c2)};
}
/// A constant of the gamma basis times a vector.
template <class R>
QUARKSMITH_INLINE Colour<R> times(double re, const Colour<R>& a) {
  return broadcast<R>(re) * a;
}
template <class R>
QUARKSMITH_INLINE Colour<R> times(double re, double im, const Colour<R>& a) {
  return Complex<R>{broadcast<R>(re), broadcast<R>(im)} * a;
}

/// A 3x3 matrix, row a, b, c: element (0,1) is a1.
template <class R>
struct Link {
  Complex<R> a0, a1, a2, b0, b1, b2, c0, c1, c2;
};

/// u v
template <class R>
QUARKSMITH_INLINE Colour<R> mul(const Link<R>& u, const Colour<R>& v) {
  return {sum_of_products(u.a0, v.c0, u.a1, v.c1, u.a2, v.c2), sum_of_products(u.b0, v.c0, u.b1, v.c1, u.b2, v.c2),
          sum_of_products(u.c0, v.c0, u.c1, v.c1, u.c2, v.c2)};
}
/// u^+ v
template <class R>
QUARKSMITH_INLINE Colour<R> mul_adj(const Link<R>& u, const Colour<R>& v) {
  return {sum_of_conj_products(u.a0, v.c0, u.b0, v.c1, u.c0, v.c2),
          sum_of_conj_products(u.a1, v.c0, u.b1, v.c1, u.c1, v.c2),
          sum_of_conj_products(u.a2, v.c0, u.b2, v.c1, u.c2, v.c2)};
}
template <class R>
QUARKSMITH_INLINE Link<R> operator*(const Link<R>& u, const Link<R>& v) {
  const Colour<R> x = mul(u, Colour<R>{v.a0, v.b0, v.c0});
  const Colour<R> y = mul(u, Colour<R>{v.a1, v.b1, v.c1});
  const Colour<R> z = mul(u, Colour<R>{v.a2, v.b2, v.c2});
  return {x.c0, y.c0, z.c0, x.c1, y.c1, z.c1, x.c2, y.c2, z.c2};
}
template <class R>
QUARKSMITH_INLINE Link<R> operator+(const Link<R>& u, const Link<R>& v) {
  return {u.a0 + v.a0, u.a1 + v.a1, u.a2 + v.a2, u.b0 + v.b0, u.b1 + v.b1,
          u.b2 + v.b2, u.c0 + v.c0, u.c1 + v.c1, u.c2 + v.c2};
}
template <class R>
QUARKSMITH_INLINE Link<R> operator-(const Link<R>& u, const Link<R>& v) {
  return {u.a0 - v.a0, u.a1 - v.a1, u.a2 - v.a2, u.b0 - v.b0, u.b1 - v.b1,
          u.b2 - v.b2, u.c0 - v.c0, u.c1 - v.c1, u.c2 - v.c2};
}
template <class R>
QUARKSMITH_INLINE Link<R>& operator+=(Link<R>& u, const Link<R>& v) {
  return u = u + v;
}
/// u^+
template <class R>
QUARKSMITH_INLINE Link<R> adj(const Link<R>& u) {
  return {conj(u.a0), conj(u.b0), conj(u.c0), conj(u.a1), conj(u.b1), conj(u.c1), conj(u.a2), conj(u.b2), conj(u.c2)};
}
/// f applied to every element.
template <class R, class F>
QUARKSMITH_INLINE auto map(const Link<R>& u, const F& f) -> Link<decltype(f(u.a0).re)> {
  return {f(u.a0), f(u.a1), f(u.a2), f(u.b0), f(u.b1), f(u.b2), f(u.c0), f(u.c1), f(u.c2)};
}
template <class R>
QUARKSMITH_INLINE Link<R> operator-(const Link<R>& u) {
  return map(u, [](const Complex<R>& z) { return -z; });
}
template <class R>
QUARKSMITH_INLINE Link<R> operator*(const R& a, const Link<R>& u) {
  return map(u, [&a](const Complex<R>& z) { return a * z; });
}
template <class R>
QUARKSMITH_INLINE Link<R> times_i(const Link<R>& u) {
  return map(u, [](const Complex<R>& z) { return times_i(z); });
}
template <class R>
QUARKSMITH_INLINE Complex<R> trace(const Link<R>& u) {
  return u.a0 + u.b1 + u.c2;
}

/// A link that may be known to be 1, as time links in temporal gauge are; `u` is then not read.
template <class R>
struct LinkOrUnit {
  Link<R> u;
  bool unit;
};
template <class R>
QUARKSMITH_INLINE Colour<R> mul(const LinkOrUnit<R>& u, const Colour<R>& v) {
  return u.unit ? v : mul(u.u, v);
}
template <class R>
QUARKSMITH_INLINE Colour<R> mul_adj(const LinkOrUnit<R>& u, const Colour<R>& v) {
  return u.unit ? v : mul_adj(u.u, v);
}

/// S colour vectors: four for Dirac spinors, one for staggered fields.
template <class R, int S>
struct Spinor {
  Colour<R> s[S];
  QUARKSMITH_INLINE Colour<R>& operator[](int i) { return s[i]; }
  QUARKSMITH_INLINE const Colour<R>& operator[](int i) const { return s[i]; }
};

/// Run-time coefficients of a vector update.
template <class R>
QUARKSMITH_INLINE R real_scalar(const ComplexScalar& s) {
  return R{} + scalar<R>(s.re);
}
template <class R>
QUARKSMITH_INLINE Complex<R> complex_scalar(const ComplexScalar& s) {
  return {R{} + scalar<R>(s.re), R{} + scalar<R>(s.im)};
}

/// Adds |v|^2 to *sum, in double.
template <int W, class R>
QUARKSMITH_INLINE void add_norm(const Colour<R>& v, Lanes<double, W>* sum) {
  const auto add = [&](const R& x) {
    const auto d = convert<double, W>(x);
    *sum += d * d;
  };
  add(v.c0.re), add(v.c0.im), add(v.c1.re), add(v.c1.im), add(v.c2.re), add(v.c2.im);
}
/// Adds conj(u) v to (sum[0], sum[1]), in double.
template <int W, class R>
QUARKSMITH_INLINE void add_dot(const Colour<R>& u, const Colour<R>& v, Lanes<double, W>* sum) {
  const auto add = [&](const Complex<R>& a, const Complex<R>& b) {
    const auto a_re = convert<double, W>(a.re), a_im = convert<double, W>(a.im);
    const auto b_re = convert<double, W>(b.re), b_im = convert<double, W>(b.im);
    sum[0] += a_re * b_re + a_im * b_im;
    sum[1] += a_re * b_im - a_im * b_re;
  };
  add(u.c0, v.c0), add(u.c1, v.c1), add(u.c2, v.c2);
}

// --- phases and roots of the compressed link storages ----------------------------------------------------------------

/// Square root with negative arguments, which only rounding produces, taken as zero.
template <class R>
QUARKSMITH_INLINE R clamped_root(const R& x) {
  return square_root(maximum(x, R{}));
}
/// value where x < bound, else 0
template <class R>
QUARKSMITH_INLINE R where_less(const R& x, const R& bound, const R& value) {
  return x < bound ? value : R{};
}
/// Half-angle coordinate of the phase of z in [-1, 1]: tan(phase/2)/2 on the right half circle; on the left half that
/// of -z, moved by one. No trigonometry, no singular point; zero for z = 0.
template <class R>
QUARKSMITH_INLINE R phase_chart(const Complex<R>& z) {
  const R one = broadcast<R>(1), size = square_root(norm2(z));
  const R sum = absolute(z.re) + size;
  const R im = z.re < R{} ? -z.im : z.im;
  const R half = sum > R{} ? broadcast<R>(0.5) * im / (sum > R{} ? sum : one) : R{};
  const R moved = half > R{} ? half - one : half + one;
  return z.re < R{} ? moved : half;
}
/// Point of the unit circle with half-angle coordinate v.
template <class R>
QUARKSMITH_INLINE Complex<R> unit_phase(const R& v) {
  const R one = broadcast<R>(1), half = broadcast<R>(0.5);
  const R moved = v > R{} ? v - one : v + one;
  const R u = absolute(v) > half ? moved + moved : v + v;
  const R size = reciprocal(one + u * u);
  const R scale = absolute(v) > half ? -size : size;
  return {(one - u * u) * scale, (u + u) * scale};
}

}  // namespace quarksmith::QUARKSMITH_TARGET
