/// \file
/// Storage formats: how the numbers of one site are written as words. Each codec names its word, the arithmetic type of
/// kernels that use it, and converts whole groups of components.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// N real numbers of W lanes.
template <class T, int W, int N>
using Reals = Words<T, W, N>;

/// Plain IEEE numbers.
template <class T>
struct Ieee {
  using Word = T;
  using Element = T;
  static constexpr bool has_norm = false;
  /// Relative accuracy; numbers of any modulus keep it.
  static constexpr double smallest = sizeof(T) == 8 ? 0x1p-52 : 0x1p-23;
  template <int N>
  static constexpr int words = N;

  template <int W, int N>
  static QUARKSMITH_INLINE Reals<T, W, N> decode(const Words<T, W, N>& words, const Lanes<float, W>&) {
    return words;
  }
  template <int W, int N>
  static QUARKSMITH_INLINE Words<T, W, N> encode(const Reals<T, W, N>& reals, Lanes<float, W>&) {
    return reals;
  }
};

/// Signed integers of the size of Word that share one scale: value = word / limit * norm, limit the largest word.
/// With HasNorm the scale is the largest modulus of the group, kept beside it; without, it is 1.
template <class WordType, bool HasNorm>
struct Fixed {
  using Word = WordType;
  using Element = float;
  static constexpr bool has_norm = HasNorm;
  /// Modulus that balances what is lost below it against what moving to it costs: 1/sqrt(limit).
  static constexpr double smallest = sizeof(Word) == 1 ? 0.09 : 0.0055;
  static constexpr float limit = float((1 << (8 * sizeof(Word) - 1)) - 1);
  template <int N>
  static constexpr int words = N;

  template <int W, int N>
  static QUARKSMITH_INLINE Reals<float, W, N> decode(const Words<Word, W, N>& words, const Lanes<float, W>& norm) {
    const Lanes<float, W> scale = (HasNorm ? norm : broadcast<Lanes<float, W>>(1)) * (1.0f / limit);
    Reals<float, W, N> reals;
    QUARKSMITH_UNROLL
    for (int n = 0; n < N; ++n) reals.w[n] = convert<float, W>(words.w[n]) * scale;
    return reals;
  }
  template <int W, int N>
  static QUARKSMITH_INLINE Words<Word, W, N> encode(const Reals<float, W, N>& reals, Lanes<float, W>& norm) {
    Lanes<float, W> scale = broadcast<Lanes<float, W>>(limit);
    if constexpr (HasNorm) {
      norm = broadcast<Lanes<float, W>>(0);
      QUARKSMITH_UNROLL
      for (int n = 0; n < N; ++n) norm = maximum(norm, absolute(reals.w[n]));
      // A zero site keeps norm 0 and words 0; the floor also keeps limit / norm finite for denormal sites.
      scale = scale * reciprocal(maximum(norm, broadcast<Lanes<float, W>>(1e-34)));
    }
    Words<Word, W, N> words;
    QUARKSMITH_UNROLL
    for (int n = 0; n < N; ++n) words.w[n] = convert<Word, W>(convert<int, W>(nearest(reals.w[n] * scale)));
    return words;
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
