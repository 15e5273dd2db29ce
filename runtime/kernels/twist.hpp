/// \file
/// Site terms with a twisted mass: i c gamma_5 for one flavour, i c gamma_5 tau_3 + e tau_1 for two, which are
/// consecutive right-hand sides. c and e are real and imaginary part of a.c; for conjugates the caller passes -c.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// (1 + i c gamma_5 tau_3 + e tau_1) psi in the basis of the kernel.
template <class Frame, int Flavours>
struct Twist {
  static constexpr int vectors = Flavours;
  template <int W>
  static QUARKSMITH_INLINE void prefetch(const Arguments&, const Site&) {}
  template <int W, class R, int N>
  static QUARKSMITH_INLINE void apply(const Arguments& a, const Site&, Spinor<R, 4, N>* psi) {
    const Complex<R> c = complex_scalar<R>(a.c);
    Spinor<R, 4, N> out[Flavours];
    QUARKSMITH_UNROLL
    for (int f = 0; f < Flavours; ++f) {
      const Spinor<R, 4, N> turned = Frame::i_gamma5(psi[f]);
      QUARKSMITH_UNROLL
      for (int s = 0; s < 4; ++s) {
        out[f][s] = psi[f][s] + (f == 0 ? c.re : -c.re) * turned[s];
        if constexpr (Flavours == 2) out[f][s] += c.im * psi[1 - f][s];
      }
    }
    QUARKSMITH_UNROLL
    for (int f = 0; f < Flavours; ++f) psi[f] = out[f];
  }
};

/// (C + i c gamma_5 tau_3 + e tau_1) psi with a.term = C; or (A + (i c gamma_5 tau_3 + e tau_1) B) psi with a.term = A
/// and a.twist = B, the form of T^-1. Numbers are in units of the scale of a.term.
template <class Codec, class Frame, int Flavours, bool Inverse>
struct TwistedTerm {
  static constexpr int vectors = Flavours;
  template <int W>
  static QUARKSMITH_INLINE void prefetch(const Arguments& a, const Site& s) {
    TermView<Codec, W>::prefetch(a.term, s.place, s.parity);
    if constexpr (Inverse) TermView<Codec, W>::prefetch(a.twist, s.place, s.parity);
  }
  template <int W, class R>
  static QUARKSMITH_INLINE void apply(const Arguments& a, const Site& s, Spinor<R, 4>* psi) {
    Spinor<R, 4> y[Flavours];
    QUARKSMITH_UNROLL
    for (int f = 0; f < Flavours; ++f) psi[f] = Frame::to_chiral(psi[f]);
    QUARKSMITH_UNROLL
    for (int block = 0; block < 2; ++block) {
      apply_stored<W>(a.term, s, block, psi, y);
      if constexpr (Inverse) apply_stored<W>(a.twist, s, block, psi, psi);
      add_twist(a, block, psi, y);
    }
    QUARKSMITH_UNROLL
    for (int f = 0; f < Flavours; ++f) psi[f] = Frame::from_chiral(y[f]);
  }

 private:
  /// A block of a stored term times that of all flavours; y may be x.
  template <int W, class R>
  static QUARKSMITH_INLINE void apply_stored(const Operand& term, const Site& s, int block, const Spinor<R, 4>* x,
                                             Spinor<R, 4>* y) {
    const auto h = TermView<Codec, W>::load(term, s.place, s.parity, block);
    QUARKSMITH_UNROLL
    for (int f = 0; f < Flavours; ++f)
      apply_block(h, x[f][2 * block], x[f][2 * block + 1], y[f][2 * block], y[f][2 * block + 1]);
  }
  /// y += (i c gamma_5 tau_3 + e tau_1) x; block 0 is that of gamma_5 = 1.
  template <class R>
  static QUARKSMITH_INLINE void add_twist(const Arguments& a, int block, const Spinor<R, 4>* x, Spinor<R, 4>* y) {
    const Complex<R> c = complex_scalar<R>(a.c);
    QUARKSMITH_UNROLL
    for (int f = 0; f < Flavours; ++f) {
      QUARKSMITH_UNROLL
      for (int s = 2 * block; s < 2 * block + 2; ++s) {
        y[f][s] += (f == block ? c.re : -c.re) * times_i(x[f][s]);
        if constexpr (Flavours == 2) y[f][s] += c.im * x[1 - f][s];
      }
    }
  }
};

/// T psi for any constant matrix T in flavour and spin, in the basis of the kernel: a.matrix holds its elements row by
/// row, flavour outside spin, as numbers of the kernel's arithmetic.
template <class Frame, int Flavours>
struct SpinMatrix {
  static constexpr int vectors = Flavours;
  template <int W>
  static QUARKSMITH_INLINE void prefetch(const Arguments&, const Site&) {}
  template <int W, class R, int N>
  static QUARKSMITH_INLINE void apply(const Arguments& a, const Site&, Spinor<R, 4, N>* psi) {
    constexpr int size = 4 * Flavours;
    const auto* element = static_cast<const Element<R>*>(a.matrix);
    Spinor<R, 4, N> out[Flavours];
    QUARKSMITH_UNROLL
    for (int row = 0; row < size; ++row) {
      Colour<R, N> sum{};
      QUARKSMITH_UNROLL
      for (int column = 0; column < size; ++column) {
        const Element<R>* z = element + 2 * (row * size + column);
        sum = sum + Complex<R>{broadcast<R>(z[0]), broadcast<R>(z[1])} * psi[column / 4][column % 4];
      }
      out[row / 4][row % 4] = sum;
    }
    QUARKSMITH_UNROLL
    for (int f = 0; f < Flavours; ++f) psi[f] = out[f];
  }
};

/// Element (i, j) of a Hermitian matrix.
template <class R>
QUARKSMITH_INLINE Complex<R> element(const Hermitian6<R>& h, int i, int j) {
  if (i == j) return {h.diagonal[i], R{}};
  return i > j ? h.below[i * (i - 1) / 2 + j] : conj(h.below[j * (j - 1) / 2 + i]);
}

/// h g of matrices that commute, so that the product is Hermitian.
template <class R>
QUARKSMITH_FUNCTION Hermitian6<R> product(const Hermitian6<R>& h, const Hermitian6<R>& g) {
  Hermitian6<R> p;
  QUARKSMITH_UNROLL
  for (int i = 0; i < 6; ++i) {
    QUARKSMITH_UNROLL
    for (int j = 0; j <= i; ++j) {
      Complex<R> sum = {};
      QUARKSMITH_UNROLL
      for (int k = 0; k < 6; ++k) sum = sum + element(h, i, k) * element(g, k, j);
      if (i == j) {
        p.diagonal[i] = sum.re;
      } else {
        p.below[i * (i - 1) / 2 + j] = sum;
      }
    }
  }
  return p;
}

/// y = B = (C^2 + a)^-1, out = C B with C = a.term; adds up log |det (C^2 + a)|. a is mu^2 for one flavour of twisted
/// mass mu, whose log |det T| is half of the sum; for two flavours split by epsilon it is mu^2 - epsilon^2, and the sum
/// log |det T|.
template <class Codec>
struct InvertTwistedTerm : TermKernel<Codec, 1> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>* sums) {
    using Terms = TermView<Codec, W>;
    using R = typename Terms::Real;
    const Site x = make_site(a.geometry, a.parity, index, rhs);
    QUARKSMITH_ROLLED
    for (int block = 0; block < 2; ++block) {
      const auto c = Terms::load(a.term, x.place, x.parity, block);
      auto square = product(c, c);
      QUARKSMITH_UNROLL
      for (int i = 0; i < 6; ++i) square.diagonal[i] = square.diagonal[i] + real_scalar<R>(a.a);
      R det = broadcast<R>(1);
      const auto b = invert_block(square, det), cb = product(c, b);
      Terms::store(a.y, x.place, x.parity, block, b);
      Terms::store(a.out, x.place, x.parity, block, cb);
      store_largest<W>(a.y, x.place, 0, block, largest_part(b));
      store_largest<W>(a.out, x.place, 0, block, largest_part(cb));
      add_log_det<W>(det, sums);
    }
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
