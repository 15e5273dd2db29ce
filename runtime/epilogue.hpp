/// \file
/// What happens to b D psi before it is stored.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// out = D in
struct Plain {
  template <class Spinors, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value& sum) {
    Spinors::store(a.out, s.place, rhs, sum);
  }
};

/// out = a x + b D in
struct Axpby {
  template <class Spinors, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value& sum) {
    using R = typename Spinors::Real;
    const R alpha = R{} + scalar<R>(a.a.re), beta = R{} + scalar<R>(a.b.re);
    const Value x = Spinors::load(a.x, s.place, rhs);
    Value out;
    QUARKSMITH_UNROLL
    for (int i = 0; i < int(sizeof(Value) / sizeof(Colour<R>)); ++i) out[i] = alpha * x[i] + beta * sum[i];
    Spinors::store(a.out, s.place, rhs, out);
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
