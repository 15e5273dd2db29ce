/// \file
/// Chains along the fifth dimension, as generator/operators/slices.py defines them.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// Coefficients of the chains: for each slice and part of the spins the five numbers own, take, give, keep, close in
/// the arithmetic precision of the kernel, complex ones as (re, im). R is the target's real type.
template <class R, bool IsComplex, int Parts, int Rank>
struct SliceChain {
  /// Colour vectors of one part at one slice.
  using Part = Spinor<R, Rank>;
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

/// The parts of all slices of a vector at one site, where the target keeps them.
template <class R, int W, int Parts, int Rank>
class KeptSlices {
 public:
  using Part = Spinor<R, Rank>;
  QUARKSMITH_INLINE void put(int s, int part, const Part& h) { kept_.put(s * Parts + part, as_reals<W>(h)); }
  QUARKSMITH_INLINE Part get(int s, int part) const { return as_spinor<R, W, Rank>(kept_.get(s * Parts + part)); }

 private:
  Kept<Element<R>, W, 6 * Rank, most_slices * Parts> kept_;
};

}  // namespace quarksmith::QUARKSMITH_TARGET
