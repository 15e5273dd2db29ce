/// \file
/// Sites of stored fields as spinors and links. All words of a block of sites are consecutive (runtime/order.hpp): on
/// the CPU a block is one of SIMD lanes, on CUDA one of a warp's threads, a group of N components cut into short
/// vectors of 16 (8, 4) bytes.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// The number that a summand of a target stands for.
template <class R>
QUARKSMITH_INLINE R value(const R& a) {
  return a;
}
template <class R>
QUARKSMITH_INLINE auto value(const Colour<R>& v) -> Colour<decltype(value(v.c0.re))> {
  return {{value(v.c0.re), value(v.c0.im)}, {value(v.c1.re), value(v.c1.im)}, {value(v.c2.re), value(v.c2.im)}};
}

template <class R, int W, int S, class Group>
QUARKSMITH_INLINE Spinor<R, S> as_spinor(const Group& r) {
  Spinor<R, S> psi;
  QUARKSMITH_UNROLL
  for (int s = 0; s < S; ++s)
    psi[s] = {{r.w[6 * s], r.w[6 * s + 1]}, {r.w[6 * s + 2], r.w[6 * s + 3]}, {r.w[6 * s + 4], r.w[6 * s + 5]}};
  return psi;
}
template <int W, class R, int S>
QUARKSMITH_INLINE Reals<Element<R>, W, 6 * S> as_reals(const Spinor<R, S>& psi) {
  Reals<Element<R>, W, 6 * S> r;
  QUARKSMITH_UNROLL
  for (int s = 0; s < S; ++s) {
    r.w[6 * s] = psi[s].c0.re;
    r.w[6 * s + 1] = psi[s].c0.im;
    r.w[6 * s + 2] = psi[s].c1.re;
    r.w[6 * s + 3] = psi[s].c1.im;
    r.w[6 * s + 4] = psi[s].c2.re;
    r.w[6 * s + 5] = psi[s].c2.im;
  }
  return r;
}

/// Site fields of S colour vectors stored with `Codec`, W lanes at a time.
template <class Codec, int S, int W>
struct SpinorView {
  static constexpr int reals = 6 * S, words = Codec::template words<reals>;
  using Word = typename Codec::Word;
  using Real = Lanes<typename Codec::Element, W>;
  using Value = Spinor<Real, S>;

  /// A spinor up to its scale, of numbers that may be added and subtracted before their value is taken.
  struct Unscaled {
    using Number = __typeof__(Codec::template decode<W, reals>(Words<Word, W, words>{}).w[0]);
    Spinor<Number, S> psi;
    decltype(Codec::template scale<W>(Lanes<float, W>{})) scale;
    QUARKSMITH_INLINE const Colour<Number>& operator[](int s) const { return psi[s]; }
  };

  static QUARKSMITH_INLINE Unscaled load_unscaled(const Operand& f, const Place& p, int rhs) {
    const auto w = load_words<Word, W, words, 1>(f, p, rhs * f.rhs_stride, 0);
    Lanes<float, W> norm{};
    if constexpr (Codec::has_norm) norm = load_norm<W>(f, p, rhs);
    return {as_spinor<typename Unscaled::Number, W, S>(Codec::template decode<W, reals>(w)),
            Codec::template scale<W>(norm)};
  }
  static QUARKSMITH_INLINE Value load(const Operand& f, const Place& p, int rhs) {
    const auto u = load_unscaled(f, p, rhs);
    Value psi;
    QUARKSMITH_UNROLL
    for (int s = 0; s < S; ++s) psi[s] = u.scale * value(u.psi[s]);
    return psi;
  }
  static QUARKSMITH_INLINE void store(const Operand& f, const Place& p, int rhs, const Value& psi) {
    Lanes<float, W> norm{};
    const auto w = Codec::template encode<W, reals>(as_reals<W>(psi), norm);
    store_words<Word, W, words, 1>(f, p, rhs * f.rhs_stride, 0, w);
    if constexpr (Codec::has_norm) store_norm<W>(f, p, rhs, norm);
  }
};

/// The same reals in another arithmetic type.
template <class To, int W, class From, int N>
QUARKSMITH_INLINE Reals<To, W, N> cast(const Words<From, W, N>& r) {
  Reals<To, W, N> result;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) result.w[n] = convert<To, W>(r.w[n]);
  return result;
}

/// Link fields stored with `Codec` and the reals of `Storage` (generated/links); four directions a site.
template <class Codec, class Storage, int W>
struct LinkView {
  static constexpr int reals = Storage::reals, words = Codec::template words<reals>;
  static constexpr bool temporal = Storage::temporal;
  using Word = typename Codec::Word;
  using Real = Lanes<typename Codec::Element, W>;
  using Value = Link<Real>;

  using Stored = Reals<typename Codec::Element, W, reals>;

  using Packed = Words<Word, W, words>;

  static QUARKSMITH_INLINE Packed load_packed(const Operand& f, const Place& p, int parity, int mu) {
    return load_words<Word, W, words, directions, Codec::streamed>(f, p, parity * f.parity_stride, mu);
  }
  static QUARKSMITH_INLINE Stored load_reals(const Operand& f, const Place& p, int parity, int mu) {
    return Codec::template decode<W, reals>(load_packed(f, p, parity, mu));
  }
  static QUARKSMITH_INLINE void store_reals(const Operand& f, const Place& p, int parity, int mu, const Stored& r) {
    Lanes<float, W> norm{};
    store_words<Word, W, words, directions>(f, p, parity * f.parity_stride, mu,
                                            Codec::template encode<W, reals>(r, norm));
  }
  static QUARKSMITH_INLINE Value decode(const Packed& words) {
    return Storage::template decode<Real>(Codec::template decode<W, reals>(words).w);
  }
  static QUARKSMITH_INLINE Value load(const Operand& f, const Place& p, int parity, int mu) {
    return decode(load_packed(f, p, parity, mu));
  }
  static QUARKSMITH_INLINE void store(const Operand& f, const Place& p, int parity, int mu, const Value& u) {
    Stored r;
    Storage::template encode<Real>(u, r.w, Codec::smallest);
    store_reals(f, p, parity, mu, r);
  }
};

/// Where the link of a hop lies: with the site that it leaves in forward direction.
template <int Mu, int Sign>
QUARKSMITH_INLINE Site link_site(const Site& x, const Neighbour<Mu, Sign>& there) {
  Site s = x;
  if (Sign < 0) {
    s.place = there.place;
    s.parity = 1 - x.parity;
  }
  return s;
}

/// The link of a hop; `packed()` gives its words. Links known to be 1 are not asked for.
template <class Links, int Mu, class Packed>
QUARKSMITH_INLINE auto link_of_hop(bool crosses, const Packed& packed) {
  if constexpr (Links::temporal && Mu == 3) {
    LinkOrUnit<typename Links::Real> u;
    u.unit = !crosses;
    if (crosses) u.u = Links::decode(packed());
    return u;
  } else {
    return Links::decode(packed());
  }
}

/// Links as kernels find them in memory.
template <class Links>
struct StoredLinks {
  template <int Mu, int Sign>
  QUARKSMITH_INLINE auto of_hop(const Arguments& a, const Site& x, const Neighbour<Mu, Sign>& there) const {
    const Site at = link_site(x, there);
    return link_of_hop<Links, Mu>(there.crosses, [&] { return Links::load_packed(a.links, at.place, at.parity, Mu); });
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
