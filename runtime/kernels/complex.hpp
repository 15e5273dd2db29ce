/// \file
/// Complex numbers of a kernel. R is the target's real type: float, double or a vector of lanes. Include after the
/// target's header.
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
