/// \file
/// Storage formats: how the numbers of one site are written as words. Each codec names its word, the arithmetic type of
/// kernels that use it, and converts whole groups of components.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

/// N real numbers of W lanes.
template <class T, int W, int N>
using Reals = Words<T, W, N>;

/// The scale of formats that have none.
struct One {};
template <class V>
QUARKSMITH_INLINE V operator*(One, const V& v) {
  return v;
}
template <class V>
QUARKSMITH_INLINE V operator*(const V& v, One) {
  return v;
}
QUARKSMITH_INLINE One operator*(One, One) { return {}; }

/// Plain IEEE numbers.
template <class T>
struct Ieee {
  static constexpr bool streamed = false;
  using Word = T;
  using Element = T;
  static constexpr bool has_norm = false;
  /// Relative accuracy; numbers of any modulus keep it.
  static constexpr double smallest = sizeof(T) == 8 ? 0x1p-52 : 0x1p-23;
  template <int N>
  static constexpr int words = N;

  /// Number n of a group is decode(words).w[n] * scale(norm).
  template <int W, int N>
  static QUARKSMITH_INLINE Reals<T, W, N> decode(const Words<T, W, N>& words) {
    return words;
  }
  template <int W>
  static QUARKSMITH_INLINE One scale(const Lanes<float, W>&) {
    return {};
  }
  template <int W, int N>
  static QUARKSMITH_INLINE Words<T, W, N> encode(const Reals<T, W, N>& reals, Lanes<float, W>&) {
    return reals;
  }
};

/// A storage format for fields of N colours; plain formats are for three.
template <class Codec, int N>
struct OfColours : Codec {
  static constexpr int colours = N;
};

/// A storage format for links that are loaded without the first cache, since no other site uses them.
template <class Codec>
struct Streamed : Codec {
  static constexpr bool streamed = true;
};

/// Integers of the size of Word that share one scale: value = integer * step * norm; their sign bit is stored inverted
/// (offset binary), which decodes faster. The step is 1/127 or 1/32766 to 4e-9, with so few digits
/// that the decoding on GPUs (`integers`) is exact. With HasNorm the scale is the largest modulus of the group,
/// kept with it; without, it is 1.
template <class WordType, bool HasNorm>
struct Fixed {
  static constexpr bool streamed = false;
  using Word = WordType;
  using Element = float;
  static constexpr bool has_norm = HasNorm;
  /// Modulus below which links keep too few digits, balanced against the cost of avoiding it (Ops.smallest of
  /// generator/algebra/su3.py): 1/sqrt(limit).
  static constexpr double smallest = sizeof(Word) == 1 ? 0.09 : 0.0055;
  static constexpr float step = sizeof(Word) == 1 ? 0x1.0204p-7f : 0x1.0004p-15f;
  static constexpr float limit = 1 / step;
  /// Odd groups of short integers are filled up, so that 32-bit words hold them.
  template <int N>
  static constexpr int words = sizeof(Word) == 2 ? N + N % 2 : N;

  /// With a norm the integers themselves, in the form that the target adds fastest: their scale is applied later, to
  /// fewer numbers.
  template <int W, int N>
  static QUARKSMITH_INLINE auto decode(const Words<Word, W, words<N>>& stored) {
    if constexpr (HasNorm) {
      return summands<W, N>(stored);
    } else if constexpr (words<N> == N) {
      return integers<W, N>(stored, step);
    } else {
      const auto filled = integers<W, words<N>>(stored, step);
      Reals<float, W, N> reals;
      QUARKSMITH_UNROLL
      for (int n = 0; n < N; ++n) reals.w[n] = filled.w[n];
      return reals;
    }
  }
  template <int W>
  static QUARKSMITH_INLINE auto scale(const Lanes<float, W>& norm) {
    if constexpr (HasNorm) {
      return norm * step;
    } else {
      return One{};
    }
  }
  template <int W, int N>
  static QUARKSMITH_INLINE Words<Word, W, words<N>> encode(const Reals<float, W, N>& reals, Lanes<float, W>& norm) {
    Lanes<float, W> scale = broadcast<Lanes<float, W>>(limit);
    if constexpr (HasNorm) {
      norm = broadcast<Lanes<float, W>>(0);
      QUARKSMITH_UNROLL
      for (int n = 0; n < N; ++n) norm = maximum(norm, absolute(reals.w[n]));
      // A zero site keeps norm 0 and words 0; the floor also keeps limit / norm finite for denormal sites.
      scale = scale * reciprocal(maximum(norm, broadcast<Lanes<float, W>>(1e-34)));
    }
    Reals<float, W, words<N>> filled{};
    QUARKSMITH_UNROLL
    for (int n = 0; n < N; ++n) filled.w[n] = reals.w[n];
    return to_integers<Word, W, words<N>>(filled, scale);
  }
};

/// Signed integers of Bits bits, six of which (a colour vector) share an 8-bit exponent in whole 32-bit words: integer
/// i occupies bits i Bits ... (i + 1) Bits - 1, the exponent the eight bits after them. value = integer 2^(exponent -
/// 125 - Bits); exponent 0 means six zeros. T is the arithmetic type of kernels.
template <int Bits, class T>
struct SharedExponent {
  static constexpr bool streamed = false;
  using Word = unsigned;
  using Element = T;
  static constexpr bool has_norm = false;
  static constexpr int spin_words = (6 * Bits + 8 + 31) / 32;
  template <int N>
  static constexpr int words = N / 6 * spin_words;

  template <int W>
  static QUARKSMITH_INLINE One scale(const Lanes<float, W>&) {
    return {};
  }
  template <int W, int N>
  static QUARKSMITH_INLINE Reals<T, W, N> decode(const Words<unsigned, W, words<N>>& stored) {
    Reals<T, W, N> reals;
    QUARKSMITH_UNROLL
    for (int n = 0; n < N; ++n) {
      const auto* group = stored.w + n / 6 * spin_words;
      const auto scale = scale_of<W>(field<W, 8>(group, 6 * Bits), 2 - Bits);
      // The integer is shifted to the top of the word and back, which repeats its sign.
      const auto integer = as_signed<W>(field<W, Bits>(group, n % 6 * Bits) << (32 - Bits)) >> (32 - Bits);
      reals.w[n] = convert<T, W>(integer) * convert<T, W>(scale);
    }
    return reals;
  }
  template <int W, int N>
  static QUARKSMITH_INLINE Words<unsigned, W, words<N>> encode(const Reals<T, W, N>& reals, Lanes<float, W>&) {
    Words<unsigned, W, words<N>> stored{};
    QUARKSMITH_UNROLL
    for (int g = 0; g < N / 6; ++g) {
      Lanes<float, W> largest{};
      QUARKSMITH_UNROLL
      for (int n = 0; n < 6; ++n) largest = maximum(largest, convert<float, W>(absolute(reals.w[6 * g + n])));
      // IEEE exponent field: largest < 2^(exponent - 126). Groups below 2^(Bits - 126) become zero.
      auto exponent = bits_of_float<W>(largest) >> 23;
      exponent = exponent < unsigned(Bits) ? exponent - exponent : exponent;
      // 2^(125 + Bits - exponent) as a float; 2 * 127 - 2 + Bits - exponent is its exponent field.
      const auto inverse = float_of_bits<W>((unsigned(252 + Bits) - exponent) << 23);
      const auto factor = exponent == 0u ? Lanes<float, W>{} : inverse;
      auto* group = stored.w + g * spin_words;
      QUARKSMITH_UNROLL
      for (int n = 0; n < 6; ++n) {
        const auto limit = broadcast<Lanes<T, W>>((1 << (Bits - 1)) - 1);
        auto scaled = reals.w[6 * g + n] * convert<T, W>(factor);
        scaled = scaled > limit ? limit : scaled < -limit ? -limit : scaled;
        put<W>(group, n * Bits, as_unsigned<W>(nearest<W>(scaled)) & mask(Bits));
      }
      put<W>(group, 6 * Bits, exponent);
    }
    return stored;
  }
  /// Relative accuracy of the largest of six numbers.
  static constexpr double smallest = 1.0 / (1 << (Bits - 1));

 private:
  static constexpr QUARKSMITH_HOST_DEVICE unsigned mask(int bits) { return bits == 32 ? ~0u : (1u << bits) - 1; }

  /// 2^(exponent - 127 + shift), 0 for exponent 0.
  template <int W>
  static QUARKSMITH_INLINE Lanes<float, W> scale_of(const Lanes<unsigned, W>& exponent, int shift) {
    const auto scale = float_of_bits<W>((exponent + unsigned(shift)) << 23);
    return exponent == 0u ? Lanes<float, W>{} : scale;
  }
  /// Count bits from position `at` of a group, in the low bits of the result; higher bits may hold others.
  template <int W, int Count>
  static QUARKSMITH_INLINE Lanes<unsigned, W> field(const Lanes<unsigned, W>* group, int at) {
    const int word = at / 32, shift = at % 32;
    auto bits = group[word] >> shift;
    if (shift + Count > 32) bits = bits | (group[word + 1] << (32 - shift));
    return Count == 8 ? bits & 0xffu : bits;
  }
  template <int W>
  static QUARKSMITH_INLINE void put(Lanes<unsigned, W>* group, int at, const Lanes<unsigned, W>& bits) {
    const int word = at / 32, shift = at % 32;
    group[word] = group[word] | (bits << shift);
    if (shift + Bits > 32 && word + 1 < spin_words) group[word + 1] = group[word + 1] | (bits >> (32 - shift));
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
