/// \file
/// Scalars in device memory: the coefficients of each right-hand side of a solve, and the arithmetic of the programs
/// that kernels run on them after their sums (generator/operators/blas.py).
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// A complex number of a scalar program.
struct Number {
  double re, im;
};
QUARKSMITH_INLINE Number operator+(const Number& a, const Number& b) { return {a.re + b.re, a.im + b.im}; }
QUARKSMITH_INLINE Number operator-(const Number& a, const Number& b) { return {a.re - b.re, a.im - b.im}; }
QUARKSMITH_INLINE Number operator*(const Number& a, const Number& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
QUARKSMITH_INLINE Number conjugate(const Number& a) { return {a.re, -a.im}; }
QUARKSMITH_INLINE Number real_part(const Number& a) { return {a.re, 0}; }
// Comparisons of real numbers; false, or 0, if one is NaN.
QUARKSMITH_INLINE Number greater(const Number& a, const Number& b) { return {a.re > b.re ? 1.0 : 0.0, 0}; }
QUARKSMITH_INLINE Number not_less(const Number& a, const Number& b) { return {a.re >= b.re ? 1.0 : 0.0, 0}; }
QUARKSMITH_INLINE Number larger(const Number& a, const Number& b) { return a.re > b.re ? a : b; }
QUARKSMITH_INLINE Number square_root(const Number& a) { return {a.re > 0 ? root_of(a.re) : 0.0, 0}; }
QUARKSMITH_INLINE bool finite(const Number& a) { return a.re - a.re == 0 && a.im - a.im == 0; }

/// Slot n of a kernel for a right-hand side.
QUARKSMITH_INLINE double* slot_at(const Arguments& a, int rhs, int n) {
  const int number = a.slot[n];
  if (number >= shared_slot) return a.scalars + 2 * (number - shared_slot);
  return a.scalars + static_cast<long long>(rhs) * a.scalar_stride + 2 * number;
}
template <class R>
QUARKSMITH_INLINE R real_slot(const Arguments& a, int rhs, int n) {
  return R{} + static_cast<Element<R>>(*slot_at(a, rhs, n));
}
template <class R>
QUARKSMITH_INLINE Complex<R> complex_slot(const Arguments& a, int rhs, int n) {
  const double* z = slot_at(a, rhs, n);
  return {R{} + static_cast<Element<R>>(z[0]), R{} + static_cast<Element<R>>(z[1])};
}

/// The slots of one right-hand side while a program runs.
class Slots {
 public:
  QUARKSMITH_INLINE Slots(const Arguments& a, int rhs) : a_(a), rhs_(rhs) {}
  QUARKSMITH_INLINE Number get(int n) const {
    const double* z = slot_at(a_, rhs_, n);
    return {z[0], z[1]};
  }
  QUARKSMITH_INLINE void set(int n, const Number& value) {
    double* z = slot_at(a_, rhs_, n);
    z[0] = value.re;
    z[1] = value.im;
    finite_ = finite_ && finite(value);
  }
  /// a/b, or 0 where b is zero or not finite.
  QUARKSMITH_INLINE Number quotient(const Number& a, const Number& b) {
    const double size = b.re * b.re + b.im * b.im;
    if (b.im == 0 && finite(b) && b.re != 0) return {a.re / b.re, a.im / b.re};
    if (finite({size, 0}) && size > 0) {
      const Number n = a * conjugate(b);
      return {n.re / size, n.im / size};
    }
    finite_ = finite_ && finite(b);
    broken_ = true;
    return {0, 0};
  }
  /// Records an error in the status slot, and deactivates the right-hand side.
  QUARKSMITH_INLINE void finish() {
    if (finite_ && !broken_) return;
    double* base = a_.scalars + static_cast<long long>(rhs_) * a_.scalar_stride;
    base[2 * status_slot] = finite_ ? double(Status::breakdown) : double(Status::not_finite);
    base[2 * active_slot] = 0;
  }

 private:
  const Arguments& a_;
  int rhs_;
  bool finite_ = true, broken_ = false;
};

/// True if the right-hand sides rhs ... rhs + tile - 1 are inactive: kernels skip them.
QUARKSMITH_INLINE bool inactive(const Arguments& a, int rhs, int tile) {
  if (a.scalars == nullptr || a.mask < 0) return false;
  for (int r = rhs; r < rhs + tile; ++r)
    if (a.scalars[static_cast<long long>(r) * a.scalar_stride + 2 * a.mask] != 0) return false;
  return true;
}

}  // namespace quarksmith::QUARKSMITH_TARGET
