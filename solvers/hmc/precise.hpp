/// \file
/// Numbers of 300 digits, only for rational approximations, whose coefficients lose most digits by cancellation.
#pragma once

#include <mpfr.h>

#include <utility>

namespace quarksmith {

/// A real number of the library MPFR with value semantics.
class Precise {
 public:
  static constexpr mpfr_prec_t bits = 1024;

  Precise() : Precise(0.0) {}
  Precise(double value) {  // NOLINT: numbers of C++ are numbers
    mpfr_init2(value_, bits);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  Precise(const Precise& other) {
    mpfr_init2(value_, bits);
    mpfr_set(value_, other.value_, MPFR_RNDN);
  }
  Precise& operator=(const Precise& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~Precise() { mpfr_clear(value_); }

  double rounded() const { return mpfr_get_d(value_, MPFR_RNDN); }

  Precise& operator+=(const Precise& b) { return set(mpfr_add, b); }
  Precise& operator-=(const Precise& b) { return set(mpfr_sub, b); }
  Precise& operator*=(const Precise& b) { return set(mpfr_mul, b); }
  Precise& operator/=(const Precise& b) { return set(mpfr_div, b); }
  friend Precise operator+(Precise a, const Precise& b) { return a += b; }
  friend Precise operator-(Precise a, const Precise& b) { return a -= b; }
  friend Precise operator*(Precise a, const Precise& b) { return a *= b; }
  friend Precise operator/(Precise a, const Precise& b) { return a /= b; }
  friend Precise operator-(const Precise& a) { return a.mapped(mpfr_neg); }
  friend bool operator<(const Precise& a, const Precise& b) { return mpfr_less_p(a.value_, b.value_) != 0; }
  friend bool operator>(const Precise& a, const Precise& b) { return b < a; }

  friend Precise abs(const Precise& a) { return a.mapped(mpfr_abs); }
  friend Precise sqrt(const Precise& a) { return a.mapped(mpfr_sqrt); }
  friend Precise exp(const Precise& a) { return a.mapped(mpfr_exp); }
  friend Precise log(const Precise& a) { return a.mapped(mpfr_log); }
  friend Precise sin(const Precise& a) { return a.mapped(mpfr_sin); }
  friend Precise asin(const Precise& a) { return a.mapped(mpfr_asin); }
  static Precise pi() {
    Precise result;
    mpfr_const_pi(result.value_, MPFR_RNDN);
    return result;
  }

 private:
  template <class F>
  Precise& set(F f, const Precise& b) {
    f(value_, value_, b.value_, MPFR_RNDN);
    return *this;
  }
  template <class F>
  Precise mapped(F f) const {
    Precise result;
    f(result.value_, value_, MPFR_RNDN);
    return result;
  }

  mpfr_t value_;
};

}  // namespace quarksmith
