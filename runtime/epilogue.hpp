/// \file
/// What happens to D psi before it is stored; epilogues with a site term are in runtime/term.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// a x + b y
template <class R, class Value>
QUARKSMITH_INLINE Value combine(const Arguments& a, const Value& x, const Value& y) {
  const R alpha = real_scalar<R>(a.a), beta = real_scalar<R>(a.b);
  Value out;
  QUARKSMITH_UNROLL
  for (int i = 0; i < int(sizeof(Value) / sizeof(Colour<R>)); ++i) out[i] = alpha * x[i] + beta * y[i];
  return out;
}

/// out = D in
struct Plain {
  /// Tells memory what `finish` will read.
  template <class Spinors>
  static QUARKSMITH_INLINE void announce(const Arguments&, const Site&, int) {}
  template <class Spinors, int W, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value& sum) {
    Spinors::store(a.out, s.place, rhs, sum);
  }
};

/// out = a x + b D in
struct Axpby {
  template <class Spinors>
  static QUARKSMITH_INLINE void announce(const Arguments& a, const Site& s, int rhs) {
    Spinors::announce(a.x, s.place, rhs);
  }
  template <class Spinors, int W, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value& sum) {
    using R = typename Spinors::Real;
    Spinors::store(a.out, s.place, rhs, combine<R>(a, Spinors::load(a.x, s.place, rhs), sum));
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
