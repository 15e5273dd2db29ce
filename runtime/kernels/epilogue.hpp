/// \file
/// Epilogues: operations on D psi before it is stored. Stores bypass caches, to leave room for neighbours of other
/// sites. A Term is a site term T or its inverse (runtime/kernels/term.hpp, runtime/kernels/twist.hpp), and has the
/// number of right-hand sides that it mixes, which an epilogue finishes together. `prefetch` prefetches the data that
/// `finish` reads for one right-hand side. `combines` is true if the epilogue reads x.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// a x + b y
template <class R, class Value>
QUARKSMITH_INLINE Value combine(const Arguments& a, const Value& x, const Value& y) {
  const R alpha = real_scalar<R>(a.a), beta = real_scalar<R>(a.b);
  Value out;
  QUARKSMITH_UNROLL
  for (int i = 0; i < int(sizeof(x.s) / sizeof(x.s[0])); ++i) out[i] = alpha * x[i] + beta * y[i];
  return out;
}

/// out = D in
struct Plain {
  static constexpr int vectors = 1;
  static constexpr bool combines = false;
  template <class Spinors>
  static QUARKSMITH_INLINE void prefetch(const Arguments&, const Site&, int) {}
  template <class Spinors, int W, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value* sum) {
    Spinors::template store<true>(a.out, s.place, rhs, *sum);
  }
};

/// out = a x + b D in
struct Axpby {
  static constexpr int vectors = 1;
  static constexpr bool combines = true;
  template <class Spinors>
  static QUARKSMITH_INLINE void prefetch(const Arguments& a, const Site& s, int rhs) {
    Spinors::prefetch(a.x, s.place, rhs);
  }
  template <class Spinors, int W, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value* sum) {
    using R = typename Spinors::Real;
    Spinors::template store<true>(a.out, s.place, rhs, combine<R>(a, Spinors::load(a.x, s.place, rhs), *sum));
  }
};

/// out = a T x + b D in; a carries the scale of a stored term
template <class Term>
struct Taxpby {
  static constexpr int vectors = Term::vectors;
  static constexpr bool combines = true;
  template <class Spinors>
  static QUARKSMITH_INLINE void prefetch(const Arguments& a, const Site& s, int rhs) {
    Spinors::prefetch(a.x, s.place, rhs);
    Term::template prefetch<Spinors::lanes>(a, s);
  }
  template <class Spinors, int W, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value* sum) {
    Value x[vectors];
    QUARKSMITH_UNROLL
    for (int v = 0; v < vectors; ++v) x[v] = Spinors::load(a.x, s.place, rhs + v);
    Term::template apply<W>(a, s, x);
    QUARKSMITH_UNROLL
    for (int v = 0; v < vectors; ++v)
      Spinors::template store<true>(a.out, s.place, rhs + v, combine<typename Spinors::Real>(a, x[v], sum[v]));
  }
};

/// out = b T^-1 D in; b carries the scale of the stored inverse
template <class Term>
struct Tinv {
  static constexpr int vectors = Term::vectors;
  static constexpr bool combines = false;
  template <class Spinors>
  static QUARKSMITH_INLINE void prefetch(const Arguments& a, const Site& s, int) {
    Term::template prefetch<Spinors::lanes>(a, s);
  }
  template <class Spinors, int W, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value* sum) {
    using R = typename Spinors::Real;
    Value y[vectors];
    QUARKSMITH_UNROLL
    for (int v = 0; v < vectors; ++v) y[v] = sum[v];
    Term::template apply<W>(a, s, y);
    QUARKSMITH_UNROLL
    for (int v = 0; v < vectors; ++v) {
      QUARKSMITH_UNROLL
      for (int i = 0; i < 4; ++i) y[v][i] = real_scalar<R>(a.b) * y[v][i];
      Spinors::template store<true>(a.out, s.place, rhs + v, y[v]);
    }
  }
};

/// out = a x + b T^-1 D in; b carries the scale of the stored inverse
template <class Term>
struct AxpbyTinv {
  static constexpr int vectors = Term::vectors;
  static constexpr bool combines = true;
  template <class Spinors>
  static QUARKSMITH_INLINE void prefetch(const Arguments& a, const Site& s, int rhs) {
    Spinors::prefetch(a.x, s.place, rhs);
    Term::template prefetch<Spinors::lanes>(a, s);
  }
  template <class Spinors, int W, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value* sum) {
    Value y[vectors];
    QUARKSMITH_UNROLL
    for (int v = 0; v < vectors; ++v) y[v] = sum[v];
    Term::template apply<W>(a, s, y);
    QUARKSMITH_UNROLL
    for (int v = 0; v < vectors; ++v)
      Spinors::template store<true>(a.out, s.place, rhs + v,
                                    combine<typename Spinors::Real>(a, Spinors::load(a.x, s.place, rhs + v), y[v]));
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
