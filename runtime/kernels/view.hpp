/// \file
/// Access to stored fields as spinors and links of sites. All words of a block of sites are consecutive
/// (runtime/fields/order.hpp): on the CPU a block is one of SIMD lanes, on a GPU one of a warp's threads, a group of N
/// components cut into short vectors of 16 (8, 4) bytes.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// The number of a summand in the target's form for sums.
template <class R>
QUARKSMITH_INLINE R value(const R& a) {
  return a;
}
template <class R, int N>
QUARKSMITH_INLINE auto value(const Colour<R, N>& v) {
  return each_colour<decltype(value(v.c[0].re)), N>(
      [&](int n) { return Complex<decltype(value(v.c[0].re))>{value(v.c[n].re), value(v.c[n].im)}; });
}

template <class R, int W, int S, int N = 3, class Group>
QUARKSMITH_INLINE Spinor<R, S, N> as_spinor(const Group& r) {
  Spinor<R, S, N> psi;
  QUARKSMITH_UNROLL
  for (int s = 0; s < S; ++s)
    psi[s] = each_colour<R, N>([&](int n) { return Complex<R>{r.w[2 * (N * s + n)], r.w[2 * (N * s + n) + 1]}; });
  return psi;
}
template <int W, class R, int S, int N>
QUARKSMITH_INLINE Reals<Element<R>, W, 2 * N * S> as_reals(const Spinor<R, S, N>& psi) {
  Reals<Element<R>, W, 2 * N * S> r;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N * S; ++n) {
    r.w[2 * n] = psi[n / N].c[n % N].re;
    r.w[2 * n + 1] = psi[n / N].c[n % N].im;
  }
  return r;
}

/// Site fields of S colour vectors stored with `Codec`, W lanes at a time.
template <class Codec, int S, int W>
struct SpinorView {
  static constexpr int N = colours_of<Codec>();
  static constexpr int reals = 2 * N * S, words = Codec::template words<reals>, lanes = W, colours = N;
  using Format = Codec;
  using Word = typename Codec::Word;
  using Real = Lanes<typename Codec::Element, W>;
  using Value = Spinor<Real, S, N>;

  /// A spinor without its scale, whose numbers may be added and subtracted before conversion.
  struct Unscaled {
    using Number = __typeof__(Codec::template decode<W, reals>(Words<Word, W, words>{}).w[0]);
    Spinor<Number, S, N> psi;
    decltype(Codec::template scale<W>(Lanes<float, W>{})) scale;
    QUARKSMITH_INLINE const Colour<Number, N>& operator[](int s) const { return psi[s]; }
  };

  static QUARKSMITH_INLINE Unscaled load_unscaled(const Operand& f, const Place& p, int rhs) {
    const auto w = load_words<Word, W, words, 1>(f, p, rhs * f.rhs_stride, 0);
    Lanes<float, W> norm{};
    if constexpr (Codec::has_norm) norm = load_norm<W>(f, p, rhs);
    return {as_spinor<typename Unscaled::Number, W, S, N>(Codec::template decode<W, reals>(w)),
            Codec::template scale<W>(norm)};
  }
  static QUARKSMITH_INLINE Value load(const Operand& f, const Place& p, int rhs) {
    const auto u = load_unscaled(f, p, rhs);
    Value psi;
    QUARKSMITH_UNROLL
    for (int s = 0; s < S; ++s) psi[s] = u.scale * value(u.psi[s]);
    return psi;
  }
  /// Prefetches a spinor.
  static QUARKSMITH_INLINE void prefetch(const Operand& f, const Place& p, int rhs) {
    prefetch_words<Word, W, words>(f, p, rhs * f.rhs_stride);
  }
  /// Stores a spinor; with Last past the caches.
  template <bool Last = false>
  static QUARKSMITH_INLINE void store(const Operand& f, const Place& p, int rhs, const Value& psi) {
    Lanes<float, W> norm{};
    const auto w = Codec::template encode<W, reals>(as_reals<W>(psi), norm);
    store_words<Word, W, words, 1, Last>(f, p, rhs * f.rhs_stride, 0, w);
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

/// The storage for a number of colours that corresponds to one for three: R18 to that of all elements, A8 to that of
/// momenta (generated/links).
template <class Storage, int Colours>
struct StorageOf {
  using type = Storage;
};

/// Link fields stored with `Codec` and the reals of a storage (generated/links); four directions a site.
template <class Codec, class Named, int W>
struct LinkView {
  using Storage = typename StorageOf<Named, colours_of<Codec>()>::type;
  using Format = Codec;
  static constexpr int reals = Storage::reals, words = Codec::template words<reals>, lanes = W;
  static constexpr int colours = colours_of<Storage>();
  static constexpr bool temporal = Storage::temporal;
  using Word = typename Codec::Word;
  /// The view of the links of a hop: the same for all.
  template <int Step>
  using of = LinkView;
  static constexpr int bytes = words * int(sizeof(Word)), vector = vector_bytes_of<bytes>;
  /// Shared memory needs short vectors of at least four bytes (batch.hpp of a GPU target).
  static constexpr bool can_be_kept = vector >= 4;
  using Real = Lanes<typename Codec::Element, W>;
  using Value = Link<Real, colours>;

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

/// Fat for hops over one site, Long for those over three.
template <int Length, class Fat, class Long>
struct ByLength {
  using type = Fat;
};
template <class Fat, class Long>
struct ByLength<3, Fat, Long> {
  using type = Long;
};
/// The views of two link fields stored with `Codec`.
template <class Codec, class FatStorage, class LongStorage, int W>
struct HopLinks {
  using Fat = LinkView<Codec, FatStorage, W>;
  using Long = LinkView<Codec, LongStorage, W>;
  template <int Step>
  using of = typename ByLength<Hop<0, Step>::length, Fat, Long>::type;
  static constexpr bool can_be_kept = Fat::can_be_kept && Long::can_be_kept;
};

/// The place of the link of a hop, which is stored with the site that it leaves in forward direction.
template <int Mu, int Step>
QUARKSMITH_INLINE Site link_site(const Site& x, const Neighbour<Mu, Step>& there) {
  Site s = x;
  if (Step < 0) {
    s.place = there.place;
    s.parity = 1 - x.parity;
  }
  return s;
}

/// The link of a hop; `packed()` gives its words. Links known to be 1 are not loaded.
template <class Links, int Mu, class Packed>
QUARKSMITH_INLINE auto link_of_hop(bool crosses, const Packed& packed) {
  if constexpr (Links::temporal && Mu == 3) {
    LinkOrUnit<typename Links::Real, Links::colours> u;
    u.unit = !crosses;
    if (crosses) u.u = Links::decode(packed());
    return u;
  } else {
    return Links::decode(packed());
  }
}

/// Colour vectors that cross a link, up to their scale.
template <class Scale, class Vector, int N>
struct Projected {
  Scale scale;
  Vector h[N];
  QUARKSMITH_INLINE const Vector& operator[](int n) const { return h[n]; }
};
template <class Scale, class Vector, class... More>
QUARKSMITH_INLINE Projected<Scale, Vector, 1 + sizeof...(More)> projected(const Scale& scale, const Vector& first,
                                                                          const More&... more) {
  return {scale, {first, more...}};
}

/// Colour vectors that have crossed a link.
template <class Vector, int N>
struct Crossed {
  Vector h[N];
  QUARKSMITH_INLINE const Vector& operator[](int n) const { return h[n]; }
};

/// out = u in, or u^+ in, for N vectors.
template <bool Adjoint, int N, class U, class Vector>
QUARKSMITH_INLINE void mul_each(const U& u, const Vector* in, Vector* out) {
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) out[n] = Adjoint ? mul_adj(u, in[n]) : mul(u, in[n]);
}

/// Takes vectors over a hop: times their scale, link and coefficient, which for a forward hop belong to the neighbour.
template <bool HasComplexPhase, int Mu, int Step, class U, class Scale, class Vector, int N>
QUARKSMITH_INLINE auto cross(const Arguments& a, const Neighbour<Mu, Step>& n, const U& u,
                             const Projected<Scale, Vector, N>& h) {
  if constexpr (branch_on_crossing) {
    Vector before[N];
    Crossed<Vector, N> after;
    QUARKSMITH_UNROLL
    for (int k = 0; k < N; ++k) before[k] = h.scale * h[k];
    if constexpr (Step > 0) arrive_in_place<HasComplexPhase, N>(a, n, before);
    mul_each<(Step < 0), N>(u, before, after.h);
    if constexpr (Step < 0) arrive_in_place<HasComplexPhase, N>(a, n, after.h);
    return after;
  } else if constexpr (Step > 0) {
    const auto scaled = [&](int k) { return arrive<HasComplexPhase>(a, n, h.scale, h[k]); };
    Crossed<decltype(mul(u, scaled(0))), N> after;
    QUARKSMITH_UNROLL
    for (int k = 0; k < N; ++k) after.h[k] = mul(u, scaled(k));
    return after;
  } else {
    const auto scaled = [&](int k) { return arrive<HasComplexPhase>(a, n, h.scale, mul_adj(u, h[k])); };
    Crossed<decltype(scaled(0)), N> after;
    QUARKSMITH_UNROLL
    for (int k = 0; k < N; ++k) after.h[k] = scaled(k);
    return after;
  }
}

/// Projection of a spinor to the colour vectors that a hop multiplies by a link: some of its own, which are sent as
/// stored, or combinations.
template <int... Spins>
struct Selected {
  static constexpr bool stored = true;
  static constexpr int count = sizeof...(Spins);
  static constexpr QUARKSMITH_HOST_DEVICE int spin(int n) {
    const int all[] = {Spins...};
    return all[n];
  }
  template <class Psi>
  static QUARKSMITH_INLINE auto of(const Psi& psi) {
    return projected(psi.scale, value(psi[Spins])...);
  }
};
template <int Count>
struct Combined {
  static constexpr bool stored = false;
  static constexpr int count = Count;
};

/// Packs site `index` of the `face` sites on the slices that hops reach for hops (Mu, Step) of the neighbouring rank
/// into `to`; a.parity is that of the sites from which these hops start.
template <class HalfSpinor, class Codec, int W, int Mu, int Step>
QUARKSMITH_FUNCTION void pack(const Arguments& a, const Operand& to, int index, int face, int rhs) {
  using Spinors = SpinorView<Codec, HalfSpinor::spins, W>;
  using Parts = decltype(HalfSpinor::parts(Hop<Mu, Step>{}));
  using Zone = SpinorView<Codec, Parts::count, W>;
  const int slice_sites = face / HalfSpinor::depth, slice = HalfSpinor::depth == 1 ? 0 : index / slice_sites;
  const int from_end = Step > 0 ? slice : a.geometry.extent[Mu] - 1 - slice;
  const Site x = face_site<Mu>(a.geometry, 1 - a.parity, from_end, index - slice * slice_sites);
  Place place;
  place.block = index;
  if constexpr (Parts::count == 0) {
    return;
  } else if constexpr (Parts::stored) {
    constexpr int each = Spinors::words / HalfSpinor::spins;
    using Word = typename Spinors::Word;
    const auto from = load_words<Word, W, Spinors::words, 1>(a.in, x.place, rhs * a.in.rhs_stride, 0);
    Words<Word, W, Zone::words> words;
    QUARKSMITH_UNROLL
    for (int n = 0; n < Zone::words; ++n) words.w[n] = from.w[Parts::spin(n / each) * each + n % each];
    store_words<Word, W, Zone::words, 1>(to, place, rhs * to.rhs_stride, 0, words);
    if constexpr (Codec::has_norm) store_norm<W>(to, place, rhs, load_norm<W>(a.in, x.place, rhs));
  } else {
    const auto psi = HalfSpinor::project(Hop<Mu, Step>{}, Spinors::load_unscaled(a.in, x.place, rhs));
    typename Zone::Value h;
    QUARKSMITH_UNROLL
    for (int n = 0; n < Parts::count; ++n) h[n] = psi.scale * psi[n];
    Zone::store(to, place, rhs, h);
  }
}

/// `ghost` in lanes whose hop leaves the local lattice, `here` in the others; both after the exchange of lanes.
template <int Mu, int Step, class R>
QUARKSMITH_INLINE R from_ghost(const Arguments& a, const R& ghost, const R& here) {
  const int* leaves = a.geometry.split[Mu] > 1 ? a.geometry.lane_tables->crossing[Mu][Step > 0] : nullptr;
  return choose_lanes(leaves, ghost, here);
}

/// Place in a halo zone of Depth slices of the site at which a hop ends that leaves the local lattice from site x.
template <int Mu, int Step, int Depth>
QUARKSMITH_INLINE Place place_beyond(const Geometry& g, const Halo& halo, const Site& x) {
  Place place;
  place.block = face_index<Mu>(g, x);
  if constexpr (Depth > 1) place.block += slices_beyond<Mu, Step>(g, x) * (halo.face[Mu] / Depth);
  return place;
}

/// The link of a backward hop that leaves the local lattice from site x, towards site `at`.
template <class Links, int Mu, int Step>
QUARKSMITH_OUTLINED typename Links::Packed ghost_link(const Arguments& a, const Halo& halo, const Site& x,
                                                      const Site& at) {
  const Operand& zone = Hop<Mu, Step>::length == 1 ? halo.links[Mu] : halo.long_links[Mu];
  const Place place = place_beyond<Mu, Step, Hop<Mu, Step>::length>(a.geometry, halo, x);
  auto words =
      load_words<typename Links::Word, Links::lanes, Links::words, 1>(zone, place, at.parity * zone.parity_stride, 0);
  if constexpr (Links::lanes > 1) {
    const auto here = Links::load_packed(links_of<Step>(a), at.place, at.parity, Mu);
    QUARKSMITH_UNROLL
    for (int n = 0; n < Links::words; ++n) words.w[n] = from_ghost<Mu, Step>(a, words.w[n], here.w[n]);
  }
  return words;
}

/// The projected spinor for a hop that leaves the local lattice from site x; `shift` is the offset in bytes of the
/// zones in use.
template <class HalfSpinor, class Spinors, int Mu, int Step>
QUARKSMITH_OUTLINED auto ghost_spinor(const Arguments& a, const Halo& halo, long long shift, const Site& x,
                                      const Neighbour<Mu, Step>& there, int rhs) {
  using Zone =
      SpinorView<typename Spinors::Format, decltype(HalfSpinor::parts(Hop<Mu, Step>{}))::count, Spinors::lanes>;
  Operand zone = halo.arriving[Mu][there.back];
  zone.data = static_cast<char*>(zone.data) + shift;
  if constexpr (Spinors::Format::has_norm) zone.norm += shift / 4;
  const Place place = place_beyond<Mu, Step, HalfSpinor::depth>(a.geometry, halo, x);
  const auto arrived = Zone::load_unscaled(zone, place, rhs);
  decltype(HalfSpinor::project(there, Spinors::load_unscaled(a.in, there.place, rhs))) p;
  constexpr int count = sizeof(p.h) / sizeof(p.h[0]);
  p.scale = arrived.scale;
  QUARKSMITH_UNROLL
  for (int n = 0; n < count; ++n) p.h[n] = value(arrived.psi[n]);
  if constexpr (Spinors::lanes > 1) {
    const auto here = HalfSpinor::project(there, Spinors::load_unscaled(a.in, there.place, rhs));
    const auto pick = [&](const auto& g, const auto& l) { return from_ghost<Mu, Step>(a, g, l); };
    if constexpr (Spinors::Format::has_norm) p.scale = pick(p.scale, here.scale);
    for (int n = 0; n < count; ++n) {
      for (int c = 0; c < Spinors::colours; ++c)
        p.h[n].c[c] = {pick(p.h[n].c[c].re, here.h[n].c[c].re), pick(p.h[n].c[c].im, here.h[n].c[c].im)};
    }
  }
  return p;
}

/// Link and spinor of a hop for a kernel: from the fields, or from the halo if the hop leaves the local lattice in a
/// direction whose bit is set in Ghosts.
template <class Links, int Ghosts>
struct Stored {
  const Halo* halo = nullptr;
  long long shift = 0;  ///< offset in bytes of the set of halo zones in use

  template <int Mu, int Step>
  QUARKSMITH_INLINE auto link(const Arguments& a, const Site& x, const Neighbour<Mu, Step>& there) const {
    using View = typename Links::template of<Step>;
    const Site at = link_site(x, there);
    return link_of_hop<View, Mu>(there.crosses, [&] {
      if constexpr ((Ghosts >> Mu & 1) != 0 && Step < 0)
        if (leaves(there)) {
          const auto ghost = ghost_link<View, Mu, Step>(a, *halo, x, at);
          return ghost;  // a copy: what a function has written to memory would keep the other case out of registers
        }
      return View::load_packed(links_of<Step>(a), at.place, at.parity, Mu);
    });
  }

  /// The projected spinor for a hop from site x.
  template <class HalfSpinor, class Spinors, int Mu, int Step>
  QUARKSMITH_INLINE auto spinor(const Arguments& a, const Site& x, const Neighbour<Mu, Step>& there, int rhs) const {
    if constexpr ((Ghosts >> Mu & 1) != 0)
      if (leaves(there)) {
        const auto ghost = ghost_spinor<HalfSpinor, Spinors>(a, *halo, shift, x, there, rhs);
        return ghost;
      }
    return HalfSpinor::project(there, Spinors::load_unscaled(a.in, there.place, rhs));
  }

  template <int Mu, int Step>
  QUARKSMITH_INLINE bool leaves(const Neighbour<Mu, Step>& there) const {
    return opaque(there.crosses && halo != nullptr && halo->face[Mu] != 0);
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
