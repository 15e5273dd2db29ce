/// \file
/// Site terms: two Hermitian 6x6 matrices a site in the frame where gamma_5 = diag(1, 1, -1, -1), such as the clover
/// term and its inverse. Index 3 s + c for spin s = 0, 1 of the block and colour c; stored as six diagonal reals, then
/// the fifteen complex elements below the diagonal row by row.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

template <class R>
struct Hermitian6 {
  R diagonal[6];
  Complex<R> below[15];  ///< element (i, j), i > j, at i (i - 1) / 2 + j
};

/// H x for a block's two colour vectors.
template <class R>
QUARKSMITH_INLINE void apply_block(const Hermitian6<R>& h, const Colour<R>& upper, const Colour<R>& lower,
                                   Colour<R>& out_upper, Colour<R>& out_lower) {
  const Complex<R> x[6] = {upper.c[0], upper.c[1], upper.c[2], lower.c[0], lower.c[1], lower.c[2]};
  Complex<R> y[6];
  QUARKSMITH_UNROLL
  for (int i = 0; i < 6; ++i) y[i] = h.diagonal[i] * x[i];
  QUARKSMITH_UNROLL
  for (int i = 1; i < 6; ++i) {
    QUARKSMITH_UNROLL
    for (int j = 0; j < i; ++j) {
      const Complex<R>& e = h.below[i * (i - 1) / 2 + j];
      y[i] = y[i] + e * x[j];
      y[j] = y[j] + conj(e) * x[i];
    }
  }
  out_upper = {y[0], y[1], y[2]};
  out_lower = {y[3], y[4], y[5]};
}

/// Fields of site terms stored with `Codec`.
template <class Codec, int W>
struct TermView {
  static constexpr int reals = 36, words = Codec::template words<reals>;
  using Word = typename Codec::Word;
  using Element = typename Codec::Element;
  using Real = Lanes<Element, W>;

  static QUARKSMITH_INLINE Hermitian6<Real> load(const Operand& f, const Place& p, int parity, int block) {
    const auto w = load_words<Word, W, words, 2>(f, p, parity * f.parity_stride, block);
    const auto r = Codec::template decode<W, reals>(w);
    Hermitian6<Real> h;
    QUARKSMITH_UNROLL
    for (int i = 0; i < 6; ++i) h.diagonal[i] = r.w[i];
    QUARKSMITH_UNROLL
    for (int i = 0; i < 15; ++i) h.below[i] = {r.w[6 + 2 * i], r.w[7 + 2 * i]};
    return h;
  }
  /// Prefetches both blocks of a site.
  static QUARKSMITH_INLINE void prefetch(const Operand& f, const Place& p, int parity) {
    prefetch_words<Word, W, 2 * words>(f, p, parity * f.parity_stride);
  }
  static QUARKSMITH_INLINE void store(const Operand& f, const Place& p, int parity, int block,
                                      const Hermitian6<Real>& h) {
    Reals<Element, W, reals> r;
    QUARKSMITH_UNROLL
    for (int i = 0; i < 6; ++i) r.w[i] = h.diagonal[i];
    QUARKSMITH_UNROLL
    for (int i = 0; i < 15; ++i) {
      r.w[6 + 2 * i] = h.below[i].re;
      r.w[7 + 2 * i] = h.below[i].im;
    }
    Lanes<float, W> norm{};
    store_words<Word, W, words, 2>(f, p, parity * f.parity_stride, block, Codec::template encode<W, reals>(r, norm));
  }
};

/// T psi for a spinor of the kernel's basis, T = a.term; Frame rotates it to the blocks and back.
template <class Codec, class Frame>
struct StoredTerm {
  static constexpr int vectors = 1;
  template <int W>
  static QUARKSMITH_INLINE void prefetch(const Arguments& a, const Site& s) {
    TermView<Codec, W>::prefetch(a.term, s.place, s.parity);
  }
  template <int W, class R>
  static QUARKSMITH_INLINE void apply(const Arguments& a, const Site& s, Spinor<R, 4>* psi) {
    using Terms = TermView<Codec, W>;
    const Spinor<R, 4> x = Frame::to_chiral(*psi);
    Spinor<R, 4> y;
    QUARKSMITH_UNROLL
    for (int block = 0; block < 2; ++block)
      apply_block(Terms::load(a.term, s.place, s.parity, block), x[2 * block], x[2 * block + 1], y[2 * block],
                  y[2 * block + 1]);
    *psi = Frame::from_chiral(y);
  }
};

// --- kernels on site terms
// ----------------------------------------------------------------------------------------------

/// Base of kernels on site terms of one parity.
template <class Codec, int Sums>
struct TermKernel {
  using Element = typename Codec::Element;
  static constexpr int tile = 1, sums = Sums;
  static constexpr bool vectorised = true;
  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return a.geometry.half_sites; }
};

/// out = b T x
template <class Codec, class Term>
struct ApplyTerm : TermKernel<Codec, 0> {
  static constexpr int tile = Term::vectors;
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using Spinors = SpinorView<Codec, 4, W>;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    typename Spinors::Value psi[tile];
    QUARKSMITH_UNROLL
    for (int v = 0; v < tile; ++v) psi[v] = Spinors::load(a.x, x.place, rhs + v);
    Tinv<Term>::template finish<Spinors, W>(a, x, rhs, psi);
  }
};

/// Largest modulus of the real and imaginary parts of a block.
template <class R>
QUARKSMITH_INLINE R largest_part(const Hermitian6<R>& h) {
  R m = absolute(h.diagonal[0]);
  QUARKSMITH_UNROLL
  for (int i = 1; i < 6; ++i) m = maximum(m, absolute(h.diagonal[i]));
  QUARKSMITH_UNROLL
  for (int i = 0; i < 15; ++i) m = maximum(m, maximum(absolute(h.below[i].re), absolute(h.below[i].im)));
  return m;
}

/// Stores the largest modulus of the blocks of a site in its scale: block 1 takes the maximum with that of block 0.
template <int W, class R>
QUARKSMITH_INLINE void store_largest(const Operand& f, const Place& p, int half, int block, const R& largest) {
  Lanes<float, W> m = convert<float, W>(largest);
  if (block > 0) m = maximum(m, load_norm<W>(f, p, half));
  store_norm<W>(f, p, half, m);
}

/// Block with diagonal part a.c + upper, a.c + lower and `across` below the diagonal.
template <class Codec, int W, class R>
QUARKSMITH_INLINE void store_block(const Arguments& a, const Site& x, int block, const Link<R>& upper,
                                   const Link<R>& lower, const Link<R>& across) {
  const R c = real_scalar<R>(a.c);
  const Hermitian6<R> h = {
      {c + upper.a0.re, c + upper.b1.re, c + upper.c2.re, c + lower.a0.re, c + lower.b1.re, c + lower.c2.re},
      {upper.b0, upper.c0, upper.c1, across.a0, across.a1, across.a2, across.b0, across.b1, across.b2, lower.b0,
       across.c0, across.c1, across.c2, lower.c0, lower.c1}};
  TermView<Codec, W>::store(a.out, x.place, x.parity, block, h);
  store_largest<W>(a.out, x.place, x.parity, block, largest_part(h));
}

/// Reals of a Hermitian 3x3 matrix: the diagonal, and the elements below.
inline constexpr int hermitian_reals = 9;
template <int W, class R>
QUARKSMITH_INLINE Words<Element<R>, W, hermitian_reals> hermitian_words(const Link<R>& m) {
  return {{m.a0.re, m.b1.re, m.c2.re, m.b0.re, m.b0.im, m.c0.re, m.c0.im, m.c1.re, m.c1.im}};
}
/// The Hermitian 3x3 matrix from its diagonal and the three elements below, row by row.
template <class R>
QUARKSMITH_INLINE Link<R> hermitian_matrix(const R* diagonal, const Complex<R>& b0, const Complex<R>& c0,
                                           const Complex<R>& c1) {
  const R zero{};
  return {{diagonal[0], zero}, conj(b0), conj(c0), b0, {diagonal[1], zero}, conj(c1), c0, c1, {diagonal[2], zero}};
}
template <int W, class R>
QUARKSMITH_INLINE Link<R> hermitian_matrix(const Words<Element<R>, W, hermitian_reals>& m) {
  return hermitian_matrix<R>(m.w, {m.w[3], m.w[4]}, {m.w[5], m.w[6]}, {m.w[7], m.w[8]});
}

/// The colour matrix of elements of one spin, s = 0 or 1.
template <class R>
QUARKSMITH_INLINE Link<R> diagonal_matrix(const Hermitian6<R>& h, int s) {
  const auto below = [&](int i, int j) { return h.below[(3 * s + i) * (3 * s + i - 1) / 2 + 3 * s + j]; };
  return hermitian_matrix<R>(h.diagonal + 3 * s, below(1, 0), below(2, 0), below(2, 1));
}
/// The colour matrix between spin 1 and spin 0.
template <class R>
QUARKSMITH_INLINE Link<R> across_matrix(const Hermitian6<R>& h) {
  const auto row = [&](int i) { return h.below + i * (i - 1) / 2; };
  return {row(3)[0], row(3)[1], row(3)[2], row(4)[0], row(4)[1], row(4)[2], row(5)[0], row(5)[1], row(5)[2]};
}
template <class R>
QUARKSMITH_INLINE Link<R> with_adjoint(const Link<R>& u) {
  return u + adj(u);
}
/// f_mu = f_mu + factor u
template <class Matrices, class R>
QUARKSMITH_INLINE void add_matrix(const Operand& f, const Site& x, int mu, const R& factor, const Link<R>& u) {
  Matrices::store(f, x.place, x.parity, mu, Matrices::load(f, x.place, x.parity, mu) + factor * u);
}

/// out = a.a term in another precision; fields may be stored with different numbers of lanes.
template <class To, class From>
struct ConvertTerm : TermKernel<To, 0> {
  static constexpr bool vectorised = false;
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using T = typename To::Element;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    const Place from = locate(a.geometry, x, a.term), to = locate(a.geometry, x, a.out);
    const double factor = a.a.re.d;
    for (int block = 0; block < 2; ++block) {
      const auto h = TermView<From, W>::load(a.term, from, a.parity, block);
      Hermitian6<T> e;
      for (int i = 0; i < 6; ++i) e.diagonal[i] = T(factor * h.diagonal[i]);
      for (int i = 0; i < 15; ++i) e.below[i] = {T(factor * h.below[i].re), T(factor * h.below[i].im)};
      TermView<To, W>::store(a.out, to, a.parity, block, e);
      if (a.out.norm != nullptr) store_largest<W>(a.out, to, 0, block, largest_part(e));
    }
  }
};

/// out = out + a.a term
template <class Codec>
struct AddTerm : TermKernel<Codec, 0> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using Terms = TermView<Codec, W>;
    using R = typename Terms::Real;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    const R factor = real_scalar<R>(a.a);
    QUARKSMITH_ROLLED
    for (int block = 0; block < 2; ++block) {
      const auto h = Terms::load(a.term, x.place, x.parity, block);
      auto sum = Terms::load(a.out, x.place, x.parity, block);
      QUARKSMITH_UNROLL
      for (int i = 0; i < 6; ++i) sum.diagonal[i] = sum.diagonal[i] + factor * h.diagonal[i];
      QUARKSMITH_UNROLL
      for (int i = 0; i < 15; ++i) sum.below[i] = sum.below[i] + factor * h.below[i];
      Terms::store(a.out, x.place, x.parity, block, sum);
    }
  }
};

/// Component i = 3 s + c of a block's two colour vectors.
template <class R>
QUARKSMITH_INLINE Complex<R> component(const Spinor<R, 4>& psi, int block, int i) {
  return psi[2 * block + i / 3].c[i % 3];
}

/// out = y - a.a times the sum over all right-hand sides, of which there are a.columns, of (in x^+ + x in^+)/2 between
/// spins of one eigenvalue of gamma_5; y, which may be out, is zero where it has no memory.
template <class Codec, class TermCodec, class Frame>
struct AddOuter : TermKernel<Codec, 0> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using Spinors = SpinorView<Codec, 4, W>;
    using Terms = TermView<TermCodec, W>;
    using R = typename Terms::Real;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    const R factor = real_scalar<R>(a.a), half = broadcast<R>(0.5) * factor;
    QUARKSMITH_ROLLED
    for (int block = 0; block < 2; ++block) {
      Hermitian6<R> sum{};
      if (a.y.data != nullptr) sum = Terms::load(a.y, x.place, x.parity, block);
      QUARKSMITH_ROLLED
      for (int k = 0; k < a.columns; ++k) {
        const Spinor<R, 4> psi = Frame::to_chiral(Spinors::load(a.in, x.place, k));
        const Spinor<R, 4> chi = Frame::to_chiral(Spinors::load(a.x, x.place, k));
        QUARKSMITH_UNROLL
        for (int i = 0; i < 6; ++i) {
          const Complex<R> p = component(psi, block, i), c = component(chi, block, i);
          sum.diagonal[i] = sum.diagonal[i] - factor * (p.re * c.re + p.im * c.im);
          QUARKSMITH_UNROLL
          for (int j = 0; j < i; ++j) {
            const Complex<R> q = component(psi, block, j), d = component(chi, block, j);
            Complex<R>& e = sum.below[i * (i - 1) / 2 + j];
            e = e - half * sum_of_products(p, conj(d), c, conj(q));
          }
        }
      }
      Terms::store(a.out, x.place, x.parity, block, sum);
    }
  }
};

/// H = L D L^+ with unit lower triangular L; returns H^-1 and multiplies the determinant to `det`.
template <class R>
QUARKSMITH_FUNCTION Hermitian6<R> invert_block(const Hermitian6<R>& h, R& det) {
  const auto at = [](int i, int j) { return i * (i - 1) / 2 + j; };
  Complex<R> l[15];
  R d[6], inverse[6];
  QUARKSMITH_UNROLL
  for (int j = 0; j < 6; ++j) {
    d[j] = h.diagonal[j];
    QUARKSMITH_UNROLL
    for (int k = 0; k < j; ++k) d[j] = d[j] - norm2(l[at(j, k)]) * d[k];
    inverse[j] = reciprocal(d[j]);
    det = det * d[j];
    QUARKSMITH_UNROLL
    for (int i = j + 1; i < 6; ++i) {
      Complex<R> sum = h.below[at(i, j)];
      QUARKSMITH_UNROLL
      for (int k = 0; k < j; ++k) sum = sum - d[k] * (l[at(i, k)] * conj(l[at(j, k)]));
      l[at(i, j)] = inverse[j] * sum;
    }
  }
  // Column by column: y = L^-1 e_c, z = D^-1 y, x = L^-+ z.
  Hermitian6<R> result;
  QUARKSMITH_UNROLL
  for (int c = 0; c < 6; ++c) {
    Complex<R> x[6];
    QUARKSMITH_UNROLL
    for (int i = 0; i < 6; ++i) {
      x[i] = {i == c ? broadcast<R>(1) : R{}, R{}};
      QUARKSMITH_UNROLL
      for (int k = c; k < i; ++k) x[i] = x[i] - l[at(i, k)] * x[k];
    }
    QUARKSMITH_UNROLL
    for (int i = 5; i >= c; --i) {
      x[i] = inverse[i] * x[i];
      QUARKSMITH_UNROLL
      for (int k = i + 1; k < 6; ++k) x[i] = x[i] - conj(l[at(k, i)]) * x[k];
    }
    result.diagonal[c] = x[c].re;
    QUARKSMITH_UNROLL
    for (int i = c + 1; i < 6; ++i) result.below[at(i, c)] = x[i];
  }
  return result;
}

/// Adds log |det| to the sum of each lane.
template <int W, class R>
QUARKSMITH_INLINE void add_log_det(const R& det, Lanes<double, W>* sums) {
  for (int l = 0; l < W; ++l) set_lane(*sums, l, get_lane(*sums, l) + logarithm(absolute(double(get_lane(det, l)))));
}

/// out = term^-1; adds up log |det term|.
template <class Codec>
struct InvertTerm : TermKernel<Codec, 1> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>* sums) {
    using Terms = TermView<Codec, W>;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    QUARKSMITH_ROLLED
    for (int block = 0; block < 2; ++block) {
      typename Terms::Real det = broadcast<typename Terms::Real>(1);
      const auto inverse = invert_block(Terms::load(a.term, x.place, x.parity, block), det);
      Terms::store(a.out, x.place, x.parity, block, inverse);
      store_largest<W>(a.out, x.place, 0, block, largest_part(inverse));
      add_log_det<W>(det, sums);
    }
  }
};

/// out = g in, or g^+ in where a.direction is 1; g stands in direction 0 of the links, 18 reals.
template <class Codec, class LinkCodec, class Storage>
struct RotateColour : TermKernel<Codec, 0> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using Spinors = SpinorView<Codec, 4, W>;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    const auto g = LinkView<LinkCodec, Storage, W>::load(a.links, x.place, x.parity, 0);
    auto psi = Spinors::load(a.in, x.place, rhs);
    QUARKSMITH_UNROLL
    for (int s = 0; s < 4; ++s) psi[s] = a.direction == 1 ? mul_adj(g, psi[s]) : mul(g, psi[s]);
    Spinors::store(a.out, x.place, rhs, psi);
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
