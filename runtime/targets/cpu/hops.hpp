/// \file
/// Hopping terms on the CPU: which blocks look for ghost zones, links that are read from memory where they are needed,
/// and prefetching. Include after runtime/kernels/kernel.hpp.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// A link whose numbers are read where they are stored (the first InPlace of them; others are decoded) when they
/// multiply: a matrix, two vectors and their products are more than registers hold.
template <class R, int Colours, int InPlace>
struct LinkInMemory {
  static constexpr int lanes = sizeof(R) / sizeof(Element<R>), reals = 2 * Colours * Colours;
  const Element<R>* stored;
  R decoded[reals - InPlace + (InPlace == reals)];

  QUARKSMITH_INLINE R real(int n) const {
    return n < InPlace ? load_lanes<Element<R>, lanes>(stored + n * lanes) : decoded[n < InPlace ? 0 : n - InPlace];
  }
  /// Row i, column j of the link, or of its adjoint.
  template <bool Adjoint>
  QUARKSMITH_INLINE Complex<R> at(int i, int j) const {
    const int n = Adjoint ? Colours * j + i : Colours * i + j;
    return {real(2 * n), Adjoint ? -real(2 * n + 1) : real(2 * n + 1)};
  }
};

/// Every number of the link is read once for N vectors. With 32 registers the sums of all rows grow side by side, with
/// 16 one row comes after the other.
template <bool Adjoint, int N, class R, int C, int InPlace>
QUARKSMITH_INLINE void mul_together(const LinkInMemory<R, C, InPlace>& u, const Colour<R, C>* in, Colour<R, C>* out) {
  Colour<R, C> v[N], sum[N];
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) v[n] = in[n];
  QUARKSMITH_UNROLL
  for (int step = 0; step < C * C; ++step) {
    const int i = registers == 32 ? step % C : step / C, j = registers == 32 ? step / C : step % C;
    const Complex<R> e = u.template at<Adjoint>(i, j);
    QUARKSMITH_UNROLL
    for (int n = 0; n < N; ++n) sum[n].c[i] = j == 0 ? e * v[n].c[0] : add_product<1>(sum[n].c[i], e, v[n].c[j]);
  }
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) out[n] = sum[n];
}
template <bool Adjoint, int N, class R, int C, int InPlace>
QUARKSMITH_INLINE void mul_each(const LinkInMemory<R, C, InPlace>& u, const Colour<R, C>* in, Colour<R, C>* out) {
  constexpr int together = N % 2 == 0 ? 2 : 1;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; n += together) mul_together<Adjoint, together>(u, in + n, out + n);
}

/// Numbers of a link that a field holds as they are.
template <class View>
inline constexpr int in_place = 0;
template <class T, class Storage, int W>
inline constexpr int in_place<LinkView<Ieee<T>, Storage, W>> = Storage::in_place;
template <class T, int N, class Storage, int W>
inline constexpr int in_place<LinkView<OfColours<Ieee<T>, N>, Storage, W>> = StorageOf<Storage, N>::type::in_place;

/// The link of direction Mu at a site, in memory.
template <class View>
QUARKSMITH_INLINE auto link_in_memory(const Operand& f, const Site& at, int mu) {
  using Real = typename View::Real;
  LinkInMemory<Real, View::colours, in_place<View>> u;
  if constexpr (in_place<View> > 0)
    u.stored = static_cast<const typename View::Word*>(f.data) + at.parity * f.parity_stride +
               (at.place.block * static_cast<long long>(directions) + mu) * View::words * View::lanes;
  if constexpr (in_place<View> < u.reals) {
    const auto all = rows(View::load(f, at.place, at.parity, mu));
    QUARKSMITH_UNROLL
    for (int n = in_place<View>; n < u.reals; ++n) {
      const Complex<Real>& z = all(n / 2 / View::colours, n / 2 % View::colours);
      u.decoded[n - in_place<View>] = n % 2 == 0 ? z.re : z.im;
    }
    asm volatile("" : : "r"(u.decoded) : "memory");  // not in registers
  }
  return u;
}

/// Whether kernel K finds hops of a block in ghost zones: once a block, not at each hop.
template <class K>
QUARKSMITH_INLINE bool needs_ghosts(const Arguments& a, int index) {
  if (a.halo == nullptr) return false;
  int cut = 0;
  for (int mu = 0; mu < directions; ++mu) cut |= (a.halo->face[mu] != 0) << mu;
  return on_boundary<K::HalfSpinor::depth>(a.geometry, make_site(a.geometry, a.parity, index, 0), cut);
}

// --- ahead -----------------------------------------------------------------------------------------------------------

/// Where a kernel finds link and spinor of a hop if no hop leaves the part. With each it prefetches those of the same
/// hop of the next block: all at once would use up the line-fill buffers, and arithmetic would stall.
template <class Links>
struct InFields {
  Site next;        ///< block and right-hand side
  bool prefetches;  ///< whether it prefetches for these
  bool links;       ///< and their links: other right-hand sides find them in a cache

  template <int Mu, int Step>
  QUARKSMITH_INLINE auto link(const Arguments& a, const Site& x, const Neighbour<Mu, Step>& there) const {
    using View = typename Links::template of<Step>;
    if (opaque(links)) prefetch_link<View, Mu, Step>(links_of<Step>(a), neighbour<Mu, Step>(a.geometry, next));
    if constexpr (View::temporal && Mu == 3) {
      return Stored<Links, 0>{}.link(a, x, there);
    } else {
      return link_in_memory<View>(links_of<Step>(a), link_site(x, there), Mu);
    }
  }
  template <class HalfSpinor, class Spinors, int Mu, int Step>
  QUARKSMITH_INLINE auto spinor(const Arguments& a, const Site& x, const Neighbour<Mu, Step>& there, int rhs) const {
    if (opaque(prefetches))
      Spinors::prefetch(a.in, neighbour<Mu, Step>(a.geometry, next).place, next.rhs + rhs - x.rhs);
    return HalfSpinor::project(there, Spinors::load_unscaled(a.in, there.place, rhs));
  }

 private:
  template <class View, int Mu, int Step>
  QUARKSMITH_INLINE void prefetch_link(const Operand& links, const Neighbour<Mu, Step>& there) const {
    if (View::temporal && Mu == 3 && !there.crosses) return;  // known to be 1
    const Site at = link_site(next, there);
    prefetch_words<typename View::Word, View::lanes, View::words, directions>(links, at.place,
                                                                              at.parity * links.parity_stride, Mu);
  }
};

/// Whether blocks do not stay in a cache anyway.
template <class K, int W>
QUARKSMITH_INLINE bool exceeds_caches(const Arguments& a) {
  using Spinors = SpinorView<typename K::Format, K::HalfSpinor::spins, W>;
  using View = typename K::template Links<W>::template of<1>;
  constexpr long long links = 2 * directions * View::words * int(sizeof(typename View::Word));
  constexpr long long spinors = 2 * Spinors::words * int(sizeof(typename Spinors::Word));
  constexpr long long cached = 8 << 20;  // bytes
  return a.geometry.half_sites * (links + a.rhs * spinors) * W > cached;
}

// --- blocks ----------------------------------------------------------------------------------------------------------

/// Leaves D psi to the epilogue of the caller: a.out.data are spinors in registers, one a right-hand side.
struct Keep {
  static constexpr int vectors = 1;
  template <class Spinors, int W, class Value>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Site& s, int rhs, const Value* sum) {
    static_cast<Value*>(a.out.data)[rhs - s.rhs] = *sum;
  }
};
/// D psi at a block some of whose hops end in ghost zones.
template <class Hopping, int W>
QUARKSMITH_OUTLINED void hop_with_ghosts(const Arguments& a, int index, int rhs) {
  Hopping::template site<W>(a, index, rhs, static_cast<Lanes<double, W>*>(nullptr));
}
/// D psi at a block; `next`: what to prefetch for, null for nothing; `links`: whether its links too.
template <class Hopping, int W>
QUARKSMITH_OUTLINED void hop_at(const Arguments& a, int index, int rhs, const Site* next, bool links) {
  if (needs_ghosts<Hopping>(a, index)) return hop_with_ghosts<Hopping, W>(a, index, rhs);
  using Fields = InFields<typename Hopping::template Links<W>>;
  Hopping::template site<W>(a, index, rhs, Fields{next != nullptr ? *next : Site{}, next != nullptr, links});
}

/// Prefetches what the epilogue of a block reads and writes.
template <class Epilogue, class Spinors, int Tile>
QUARKSMITH_INLINE void prefetch_end(const Arguments& a, const Site& next) {
  for (int r = 0; r < Tile; ++r) {
    Spinors::prefetch(a.out, next.place, next.rhs + r);
    Epilogue::template prefetch<Spinors>(a, next, next.rhs + r);
  }
}

/// A kernel at blocks number `first` to `end` of `count`, for `rhs_count` right-hand sides from `rhs_first` on, which
/// the links of a block serve before the next.
/// Order is for lattices that caches do not hold. D psi is compiled once for all epilogues.
template <int W, class Order, template <class, class, class, class, bool, int> class Body, class Codec, class LinkCodec,
          class Storage, class Epilogue, bool ComplexPhase, int Tile>
QUARKSMITH_INLINE void hop_blocks(const Body<Codec, LinkCodec, Storage, Epilogue, ComplexPhase, Tile>&,
                                  const Arguments& a, int rhs_first, int rhs_count, int first, int end, int count) {
  using Hopping = Body<Codec, LinkCodec, Storage, Keep, ComplexPhase, Tile>;
  using Spinors = SpinorView<Codec, Hopping::HalfSpinor::spins, W>;
  typename Spinors::Value sum[Tile];
  Arguments to = a;
  to.out.data = sum;
  const bool large = exceeds_caches<Hopping, W>(a), prefetches = Order::prefetches && large;
  const auto block = [&](int number) {
    return a.list != nullptr ? a.list[number] : large ? Order::block(a.geometry, number) : number;
  };
  const int rhs_end = rhs_first + rhs_count;
  for (int number = first; number < end; ++number)
    for (int rhs = rhs_first; rhs < rhs_end; rhs += Tile) {
      if (inactive(a, rhs, Tile)) continue;
      const bool stays = rhs + Tile < rhs_end, fetch_next = prefetches && (stays || number + 1 < count);
      const Site x = make_site(a.geometry, a.parity, block(number), rhs);
      Site next;
      if (fetch_next)
        next = make_site(a.geometry, a.parity, block(stays ? number : number + 1), stays ? rhs + Tile : rhs_first);
      hop_at<Hopping, W>(to, x.place.block, rhs, fetch_next ? &next : nullptr, fetch_next && !stays);
      if (fetch_next) prefetch_end<Epilogue, Spinors, Tile>(a, next);
      for (int r = 0; r < Tile; r += Epilogue::vectors) Epilogue::template finish<Spinors, W>(a, x, rhs + r, sum + r);
    }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
