/// \file
/// Colour vectors and colour matrices of a kernel, by default of three colours. Include after
/// runtime/kernels/complex.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Number of colours of a link storage or a format of fields; three unless the type defines it.
template <class>
using nothing = void;
template <class T, class = void>
inline constexpr int colours_in = 3;
template <class T>
inline constexpr int colours_in<T, nothing<decltype(T::colours)>> = T::colours;
template <class T>
constexpr int colours_of() {
  return colours_in<T>;
}

/// N complex numbers: one spin component of a quark field.
template <class R, int N = 3>
struct Colour {
  Complex<R> c[N];
};

/// f of each colour.
template <class R, int N, class F>
QUARKSMITH_INLINE Colour<R, N> each_colour(const F& f) {
  Colour<R, N> v;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) v.c[n] = f(n);
  return v;
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> operator+(const Colour<R, N>& a, const Colour<R, N>& b) {
  return each_colour<R, N>([&](int n) { return a.c[n] + b.c[n]; });
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> operator-(const Colour<R, N>& a, const Colour<R, N>& b) {
  return each_colour<R, N>([&](int n) { return a.c[n] - b.c[n]; });
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> operator-(const Colour<R, N>& a) {
  return each_colour<R, N>([&](int n) { return -a.c[n]; });
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> operator*(const R& a, const Colour<R, N>& b) {
  return each_colour<R, N>([&](int n) { return a * b.c[n]; });
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> operator*(const Complex<R>& a, const Colour<R, N>& b) {
  return each_colour<R, N>([&](int n) { return a * b.c[n]; });
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N>& operator+=(Colour<R, N>& a, const Colour<R, N>& b) {
  return a = a + b;
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N>& operator-=(Colour<R, N>& a, const Colour<R, N>& b) {
  return a = a - b;
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> times_i(const Colour<R, N>& a) {
  return each_colour<R, N>([&](int n) { return times_i(a.c[n]); });
}
/// A constant of the gamma basis times a vector.
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> times(double re, const Colour<R, N>& a) {
  return broadcast<R>(re) * a;
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> times(double re, double im, const Colour<R, N>& a) {
  return Complex<R>{broadcast<R>(re), broadcast<R>(im)} * a;
}

/// An NxN matrix, row by row. Algorithms for any N begin with its `rows`.
template <class R, int N = 3>
struct Link {
  Complex<R> e[N * N];
};
/// The 3x3 matrix with rows a, b, c: element (0,1) is a1.
template <class R>
struct Link<R, 3> {
  Complex<R> a0, a1, a2, b0, b1, b2, c0, c1, c2;
};

/// The rows of a matrix as an array.
template <class R, int N>
struct MatrixRows {
  Colour<R, N> row[N];
  QUARKSMITH_INLINE Complex<R>& operator()(int i, int j) { return row[i].c[j]; }
  QUARKSMITH_INLINE const Complex<R>& operator()(int i, int j) const { return row[i].c[j]; }
};
template <class R, int N>
QUARKSMITH_INLINE MatrixRows<R, N> rows(const Link<R, N>& u) {
  MatrixRows<R, N> m;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N * N; ++n) m(n / N, n % N) = u.e[n];
  return m;
}
template <class R>
QUARKSMITH_INLINE MatrixRows<R, 3> rows(const Link<R>& u) {
  return {{{u.a0, u.a1, u.a2}, {u.b0, u.b1, u.b2}, {u.c0, u.c1, u.c2}}};
}
/// The matrix with these rows.
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> matrix(const MatrixRows<R, N>& m) {
  Link<R, N> u;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N * N; ++n) u.e[n] = m(n / N, n % N);
  return u;
}
template <class R>
QUARKSMITH_INLINE Link<R> matrix(const MatrixRows<R, 3>& m) {
  const auto &a = m.row[0].c, &b = m.row[1].c, &c = m.row[2].c;
  return {a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]};
}
/// The matrix with elements f(i, j).
template <class R, int N, class F>
QUARKSMITH_INLINE Link<R, N> matrix_of(const F& f) {
  MatrixRows<R, N> m;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N * N; ++n) m(n / N, n % N) = f(n / N, n % N);
  return matrix(m);
}

/// u v
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> mul(const Link<R, N>& u, const Colour<R, N>& v) {
  const auto m = rows(u);
  return each_colour<R, N>([&](int i) {
    Complex<R> sum = m(i, 0) * v.c[0];
    QUARKSMITH_UNROLL
    for (int k = 1; k < N; ++k) sum = add_product<1>(sum, m(i, k), v.c[k]);
    return sum;
  });
}
/// u^+ v
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> mul_adj(const Link<R, N>& u, const Colour<R, N>& v) {
  const auto m = rows(u);
  return each_colour<R, N>([&](int i) {
    Complex<R> sum = conj(m(0, i)) * v.c[0];
    QUARKSMITH_UNROLL
    for (int k = 1; k < N; ++k) sum = add_product<1>(sum, conj(m(k, i)), v.c[k]);
    return sum;
  });
}
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> operator*(const Link<R, N>& u, const Link<R, N>& v) {
  const auto m = rows(v);
  MatrixRows<R, N> product;
  QUARKSMITH_UNROLL
  for (int j = 0; j < N; ++j) {
    const auto column = mul(u, each_colour<R, N>([&](int i) { return m(i, j); }));
    QUARKSMITH_UNROLL
    for (int i = 0; i < N; ++i) product(i, j) = column.c[i];
  }
  return matrix(product);
}
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> operator+(const Link<R, N>& u, const Link<R, N>& v) {
  const auto a = rows(u), b = rows(v);
  return matrix_of<R, N>([&](int i, int j) { return a(i, j) + b(i, j); });
}
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> operator-(const Link<R, N>& u, const Link<R, N>& v) {
  const auto a = rows(u), b = rows(v);
  return matrix_of<R, N>([&](int i, int j) { return a(i, j) - b(i, j); });
}
template <class R, int N>
QUARKSMITH_INLINE Link<R, N>& operator+=(Link<R, N>& u, const Link<R, N>& v) {
  return u = u + v;
}
/// u^+
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> adj(const Link<R, N>& u) {
  const auto m = rows(u);
  return matrix_of<R, N>([&](int i, int j) { return conj(m(j, i)); });
}
/// f applied to every element.
template <class R, int N, class F>
QUARKSMITH_INLINE auto map(const Link<R, N>& u, const F& f) {
  const auto m = rows(u);
  return matrix_of<decltype(f(m(0, 0)).re), N>([&](int i, int j) { return f(m(i, j)); });
}
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> operator-(const Link<R, N>& u) {
  return map(u, [](const Complex<R>& z) { return -z; });
}
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> operator*(const R& a, const Link<R, N>& u) {
  return map(u, [&a](const Complex<R>& z) { return a * z; });
}
template <class R, int N>
QUARKSMITH_INLINE Link<R, N> times_i(const Link<R, N>& u) {
  return map(u, [](const Complex<R>& z) { return times_i(z); });
}
template <class R, int N>
QUARKSMITH_INLINE Complex<R> trace(const Link<R, N>& u) {
  const auto m = rows(u);
  Complex<R> sum = m(0, 0);
  QUARKSMITH_UNROLL
  for (int n = 1; n < N; ++n) sum = sum + m(n, n);
  return sum;
}

// Specialisations for three colours, element by element: compilers keep named variables in registers.

template <class R>
QUARKSMITH_INLINE Colour<R> mul(const Link<R>& u, const Colour<R>& v) {
  const auto& c = v.c;
  return {sum_of_products(u.a0, c[0], u.a1, c[1], u.a2, c[2]), sum_of_products(u.b0, c[0], u.b1, c[1], u.b2, c[2]),
          sum_of_products(u.c0, c[0], u.c1, c[1], u.c2, c[2])};
}
template <class R>
QUARKSMITH_INLINE Colour<R> mul_adj(const Link<R>& u, const Colour<R>& v) {
  const auto& c = v.c;
  return {sum_of_conj_products(u.a0, c[0], u.b0, c[1], u.c0, c[2]),
          sum_of_conj_products(u.a1, c[0], u.b1, c[1], u.c1, c[2]),
          sum_of_conj_products(u.a2, c[0], u.b2, c[1], u.c2, c[2])};
}
template <class R>
QUARKSMITH_INLINE Link<R> operator*(const Link<R>& u, const Link<R>& v) {
  const Colour<R> x = mul(u, Colour<R>{v.a0, v.b0, v.c0});
  const Colour<R> y = mul(u, Colour<R>{v.a1, v.b1, v.c1});
  const Colour<R> z = mul(u, Colour<R>{v.a2, v.b2, v.c2});
  return {x.c[0], y.c[0], z.c[0], x.c[1], y.c[1], z.c[1], x.c[2], y.c[2], z.c[2]};
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
QUARKSMITH_INLINE Link<R> adj(const Link<R>& u) {
  return {conj(u.a0), conj(u.b0), conj(u.c0), conj(u.a1), conj(u.b1), conj(u.c1), conj(u.a2), conj(u.b2), conj(u.c2)};
}
template <class R, class F>
QUARKSMITH_INLINE auto map(const Link<R>& u, const F& f) -> Link<decltype(f(u.a0).re)> {
  return {f(u.a0), f(u.a1), f(u.a2), f(u.b0), f(u.b1), f(u.b2), f(u.c0), f(u.c1), f(u.c2)};
}
template <class R>
QUARKSMITH_INLINE Complex<R> trace(const Link<R>& u) {
  return u.a0 + u.b1 + u.c2;
}

/// One lane of a matrix, in double, and back.
template <class R, int N>
QUARKSMITH_INLINE Link<double, N> lane_of(const Link<R, N>& u, int lane) {
  return map(u, [lane](const Complex<R>& z) {
    return Complex<double>{double(get_lane(z.re, lane)), double(get_lane(z.im, lane))};
  });
}
template <class R, int N>
QUARKSMITH_INLINE void set_lane_of(Link<R, N>& u, int lane, const Link<double, N>& one) {
  auto m = rows(u);
  const auto from = rows(one);
  for (int n = 0; n < N * N; ++n) {
    set_lane(m(n / N, n % N).re, lane, Element<R>(from(n / N, n % N).re));
    set_lane(m(n / N, n % N).im, lane, Element<R>(from(n / N, n % N).im));
  }
  u = matrix(m);
}

/// A link that may be known to be 1, as time links in temporal gauge are; `u` is then not read.
template <class R, int N>
struct LinkOrUnit {
  Link<R, N> u;
  bool unit;
};
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> mul(const LinkOrUnit<R, N>& u, const Colour<R, N>& v) {
  return u.unit ? v : mul(u.u, v);
}
template <class R, int N>
QUARKSMITH_INLINE Colour<R, N> mul_adj(const LinkOrUnit<R, N>& u, const Colour<R, N>& v) {
  return u.unit ? v : mul_adj(u.u, v);
}

/// S vectors of N colours: four for Dirac spinors, one for staggered fields.
template <class R, int S, int N = 3>
struct Spinor {
  Colour<R, N> s[S];
  QUARKSMITH_INLINE Colour<R, N>& operator[](int i) { return s[i]; }
  QUARKSMITH_INLINE const Colour<R, N>& operator[](int i) const { return s[i]; }
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
template <int W, class R, int N>
QUARKSMITH_INLINE void add_norm(const Colour<R, N>& v, Lanes<double, W>* sum) {
  const auto add = [&](const R& x) {
    const auto d = convert<double, W>(x);
    *sum += d * d;
  };
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) add(v.c[n].re), add(v.c[n].im);
}
/// Adds conj(u) v to (sum[0], sum[1]), in double.
template <int W, class R, int N>
QUARKSMITH_INLINE void add_dot(const Colour<R, N>& u, const Colour<R, N>& v, Lanes<double, W>* sum) {
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) {
    const auto a_re = convert<double, W>(u.c[n].re), a_im = convert<double, W>(u.c[n].im);
    const auto b_re = convert<double, W>(v.c[n].re), b_im = convert<double, W>(v.c[n].im);
    sum[0] += a_re * b_re + a_im * b_im;
    sum[1] += a_re * b_im - a_im * b_re;
  }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
