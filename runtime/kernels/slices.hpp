/// \file
/// Chains along the fifth dimension, as generator/operators/slices.py defines them.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// One colour of the spinors of a view: chains do not mix colours. A right-hand side is slice + colour * colour_unit.
template <class Whole, int S>
struct ColourOf {
  static constexpr int colour_unit = 1 << 24, colours = 1, lanes = Whole::lanes, groups = S * Whole::colours;
  using Word = typename Whole::Word;
  using Real = typename Whole::Real;
  using Value = Spinor<Real, S, 1>;

  static QUARKSMITH_INLINE long long shift(const Operand& f, int number) { return number % colour_unit * f.rhs_stride; }
  static QUARKSMITH_INLINE int group(int s, int number) { return s * Whole::colours + number / colour_unit; }
  static QUARKSMITH_INLINE Value load(const Operand& f, const Place& p, int number) {
    Value psi;
    QUARKSMITH_UNROLL
    for (int s = 0; s < S; ++s) {
      const auto w = load_words<Word, lanes, 2, groups>(f, p, shift(f, number), group(s, number));
      psi[s].c[0] = {w.w[0], w.w[1]};
    }
    return psi;
  }
  static QUARKSMITH_INLINE void prefetch(const Operand& f, const Place& p, int number) {
    QUARKSMITH_UNROLL
    for (int s = 0; s < S; ++s) prefetch_words<Word, lanes, 2, groups>(f, p, shift(f, number), group(s, number));
  }
  template <bool Last = false>
  static QUARKSMITH_INLINE void store(const Operand& f, const Place& p, int number, const Value& psi) {
    QUARKSMITH_UNROLL
    for (int s = 0; s < S; ++s)
      store_words<Word, lanes, 2, groups, Last>(f, p, shift(f, number), group(s, number),
                                                {{psi[s].c[0].re, psi[s].c[0].im}});
  }
};

/// The work of a thread of a chain: one colour if that is a whole short vector, so that many threads have memory for
/// their slices; else a site.
template <class Whole, int S,
          bool Apart = !has_lanes && vector_bytes_of<2 * int(sizeof(typename Whole::Word))> ==
                                         vector_bytes_of<Whole::words* int(sizeof(typename Whole::Word))>>
struct ChainShare {
  using View = Whole;
  static QUARKSMITH_HOST_DEVICE int count(const Geometry& g) { return g.half_sites; }
  static QUARKSMITH_INLINE int site(int index) { return index; }
  static QUARKSMITH_INLINE int first(int, int slice) { return slice; }
};
template <class Whole, int S>
struct ChainShare<Whole, S, true> {
  using View = ColourOf<Whole, S>;
  static constexpr int shares = Whole::colours, together = shares * site_block;
  static QUARKSMITH_HOST_DEVICE int count(const Geometry& g) {
    return (g.half_sites + site_block - 1) / site_block * together;
  }
  static QUARKSMITH_INLINE int site(int index) { return index / together * site_block + index % site_block; }
  static QUARKSMITH_INLINE int first(int index, int slice) {
    return slice + index / site_block % shares * View::colour_unit;
  }
};

/// Coefficients of the chains: for each slice and part of the spins the five numbers own, take, give, keep, close in
/// the arithmetic precision of the kernel, complex ones as (re, im). R is the target's real type.
template <class R, bool IsComplex, int Parts, int Rank, int Colours>
struct SliceChain {
  /// Colour vectors of one part at one slice.
  using Part = Spinor<R, Rank, Colours>;
  enum Name { own, take, give, keep, closing, names };

  static QUARKSMITH_INLINE auto coefficient(const Arguments& a, int s, int part, Name name) {
    const int n = (s * Parts + part) * names + name;
    const auto* table = static_cast<const Element<R>*>(a.chain);
    if constexpr (IsComplex) {
      return Complex<R>{R{} + table[2 * n], R{} + table[2 * n + 1]};
    } else {
      return R{} + table[n];
    }
  }

  /// k += close_s h
  static QUARKSMITH_INLINE void close(const Arguments& a, int s, int part, const Part& h, Part& k) {
    const auto c = coefficient(a, s, part, closing);
    QUARKSMITH_UNROLL
    for (int i = 0; i < Rank; ++i) k[i] = c * h[i] + k[i];
  }

  /// y = own_s h + take_s k, which is returned; then k = give_s h + keep_s k.
  static QUARKSMITH_INLINE Part pass(const Arguments& a, int s, int part, const Part& h, Part& k) {
    const auto o = coefficient(a, s, part, own), t = coefficient(a, s, part, take);
    const auto g = coefficient(a, s, part, give), p = coefficient(a, s, part, keep);
    Part y;
    QUARKSMITH_UNROLL
    for (int i = 0; i < Rank; ++i) {
      y[i] = o * h[i] + t * k[i];
      k[i] = g * h[i] + p * k[i];
    }
    return y;
  }
};

/// All slices of a vector at one site, in memory that the target chooses.
template <class R, int W, int Parts, int Rank, int Colours>
class KeptSlices {
 public:
  using Part = Spinor<R, Rank, Colours>;
  QUARKSMITH_INLINE void put(int s, int part, const Part& h) { kept_.put(s * Parts + part, as_reals<W>(h)); }
  QUARKSMITH_INLINE Part get(int s, int part) const {
    return as_spinor<R, W, Rank, Colours>(kept_.get(s * Parts + part));
  }

 private:
  Kept<Element<R>, W, 2 * Colours * Rank, most_slices * Parts> kept_;
};

}  // namespace quarksmith::QUARKSMITH_TARGET
