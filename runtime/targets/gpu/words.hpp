/// \file
/// How GPUs move the words of a site between memory and registers, and what integers they make of them. Part of
/// kernel.hpp.
#pragma once

#include "runtime/kernels/arguments.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Where a site lies in a field.
struct Place {
  int block = 0;
};

QUARKSMITH_INLINE Place with_lane(const Place& p, int, int) { return p; }
/// Where number `index` of the sites that a field holds lies: the last block of the even ones may not be full.
QUARKSMITH_INLINE Place element_place(const Geometry& g, int index) {
  return {index < g.half_sites ? index : index + (-g.half_sites & (site_block - 1))};
}

/// N words of one site.
template <class Word, int W, int N>
struct Words {
  Word w[N];
};

/// The bytes of integer n, which counts from zero, as the mantissa of 2^15 + integer (one byte) or 2^23 + integer
/// (two).
template <class Word>
inline constexpr float mantissa_offset = sizeof(Word) == 1 ? 32768.0f + 128.0f : 8388608.0f + 32768.0f;
template <class Word, int N>
QUARKSMITH_INLINE void to_mantissas(const Words<Word, 1, N>& words, float (&f)[N]) {
  constexpr int each = 4 / sizeof(Word);
  union {
    Words<Word, 1, N> words;
    unsigned packed[N / each];
  } u;
  u.words = words;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) {
    const unsigned exponent = each == 4 ? 0x47000000u : 0x4b000000u;
    const unsigned selector = each == 4 ? 0x7604u + unsigned(n % 4) * 0x10u : (n % 2 == 0 ? 0x7410u : 0x7432u);
    f[n] = __uint_as_float(choose_bytes(u.packed[n / each], exponent, selector));
  }
}

/// Integers of one or two bytes, times a scale of few digits, as floats: one multiply-add removes the offset exactly.
/// Twice as fast as the conversion instruction.
template <int W, int N, class Word>
QUARKSMITH_INLINE Words<float, W, N> integers(const Words<Word, W, N>& words, float scale) {
  float f[N];
  to_mantissas(words, f);
  Words<float, W, N> reals;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) reals.w[n] = fmaf(f[n], scale, -mantissa_offset<Word> * scale);
  return reals;
}

/// The other way: numbers times a scale as integers that count from zero. Added to 2^23 a number is rounded to an
/// integer, which the low bytes of the sum then hold.
template <class Word, int W, int N>
QUARKSMITH_INLINE Words<Word, W, N> to_integers(const Words<float, W, N>& reals, float scale) {
  constexpr int each = 4 / sizeof(Word);
  constexpr float offset = 8388608.0f + float(1 << (8 * sizeof(Word) - 1));
  union {
    unsigned packed[N / each];
    Words<Word, W, N> words;
  } u;
  unsigned bits[N];
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) bits[n] = __float_as_uint(fmaf(reals.w[n], scale, offset));
  QUARKSMITH_UNROLL
  for (int n = 0; n < N / each; ++n) {
    if constexpr (each == 2) {
      u.packed[n] = choose_bytes(bits[2 * n], bits[2 * n + 1], 0x5410);
    } else {
      u.packed[n] = choose_bytes(choose_bytes(bits[4 * n], bits[4 * n + 1], 0x0040),
                                 choose_bytes(bits[4 * n + 2], bits[4 * n + 3], 0x0040), 0x5410);
    }
  }
  return u.words;
}

/// An integer f - offset. The offset is known to the compiler; in a difference it cancels, in a sum it is removed from
/// one side: every result is exact, and for most integers it is never subtracted by itself.
struct Summand {
  float f, offset;
  QUARKSMITH_INLINE Summand() {}
  QUARKSMITH_INLINE Summand(float value, float shift) : f(value), offset(shift) {}
  QUARKSMITH_INLINE explicit Summand(double value) : f(float(value)), offset(0) {}
};
QUARKSMITH_INLINE Summand operator-(const Summand& a) { return {-a.f, -a.offset}; }
QUARKSMITH_INLINE Summand operator+(const Summand& a, const Summand& b) {
  const float offset = a.offset + b.offset;
  return offset == 0 ? Summand(a.f + b.f, 0.0f) : Summand(a.f + (b.f - offset), 0.0f);
}
QUARKSMITH_INLINE Summand operator-(const Summand& a, const Summand& b) { return a + -b; }
QUARKSMITH_INLINE float value(const Summand& a) { return a.offset == 0 ? a.f : a.f - a.offset; }
QUARKSMITH_INLINE Summand operator*(const Summand& a, const Summand& b) { return {value(a) * value(b), 0.0f}; }
QUARKSMITH_INLINE Summand multiply_add(const Summand& a, const Summand& b, const Summand& c) {
  return {fmaf(value(a), value(b), value(c)), 0.0f};
}

template <int W, int N, class Word>
QUARKSMITH_INLINE Words<Summand, W, N> summands(const Words<Word, W, N>& words) {
  float f[N];
  to_mantissas(words, f);
  Words<Summand, W, N> reals;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) reals.w[n] = {f[n], mantissa_offset<Word>};
  return reals;
}

/// A short vector, moved by one instruction.
template <int Bytes>
struct Packet;
template <>
struct Packet<16> {
  using type = uint4;
};
template <>
struct Packet<8> {
  using type = uint2;
};
template <>
struct Packet<4> {
  using type = unsigned;
};
template <>
struct Packet<2> {
  using type = unsigned short;
};

/// Vectors of Bytes bytes in which a site with words of SiteBytes bytes is cut: where the first one lies. The others
/// follow at distances known to the compiler, so that one address serves them all.
template <int Bytes, int SiteBytes>
QUARKSMITH_INLINE auto vectors_at(const void* data, const Place& p) {
  using P = typename Packet<Bytes>::type;
  // Two wide multiply-adds: the first vectors as if nothing lay between them, then what does.
  const unsigned long long site = unsigned(p.block), block = unsigned(p.block) / site_block;
  return reinterpret_cast<const P*>(static_cast<const char*>(data) + block * (site_block * (SiteBytes - Bytes))) + site;
}

/// The first N words of group number `group` of the Groups of a site, of Held words each.
template <class Word, int W, int N, int Groups, bool Streamed = false, int Held = N>
QUARKSMITH_INLINE Words<Word, W, N> load_words(const Operand& f, const Place& p, long long shift, int group) {
  constexpr int bytes = vector_bytes_of<int(Held * sizeof(Word))>, packets = N * int(sizeof(Word)) / bytes;
  static_assert(packets * bytes == N * int(sizeof(Word)));
  const auto* at = vectors_at<bytes, Held * Groups* int(sizeof(Word))>(static_cast<const Word*>(f.data) + shift, p);
  union {
    typename Packet<bytes>::type packet[packets];
    Words<Word, W, N> words;
  } u;
  QUARKSMITH_UNROLL
  for (int n = 0; n < packets; ++n) {
    const auto* packet = at + (group * (Held * int(sizeof(Word)) / bytes) + n) * site_block;
    u.packet[n] = Streamed ? load_once(packet) : *packet;
  }
  return u.words;
}

template <class Word, int W, int N, int Groups, bool Last = false>
QUARKSMITH_INLINE void store_words(const Operand& f, const Place& p, long long shift, int group,
                                   const Words<Word, W, N>& words) {
  constexpr int bytes = vector_bytes_of<int(N * sizeof(Word))>, packets = N * int(sizeof(Word)) / bytes;
  using P = typename Packet<bytes>::type;
  const auto* at = vectors_at<bytes, N * Groups* int(sizeof(Word))>(static_cast<const Word*>(f.data) + shift, p);
  union {
    P packet[packets];
    Words<Word, W, N> words;
  } u;
  u.words = words;
  QUARKSMITH_UNROLL
  for (int n = 0; n < packets; ++n) {
    auto* const packet = const_cast<P*>(at) + (group * packets + n) * site_block;
    if constexpr (Last)
      store_last(packet, u.packet[n]);
    else
      *packet = u.packet[n];
  }
}

/// Prefetches group number `group` of a site into L2.
template <class Word, int W, int N, int Groups = 1>
QUARKSMITH_INLINE void prefetch_words(const Operand& f, const Place& p, long long shift, int group = 0) {
  constexpr int bytes = vector_bytes_of<int(N * sizeof(Word))>, packets = N * int(sizeof(Word)) / bytes;
  const auto* at = vectors_at<bytes, N * Groups* int(sizeof(Word))>(static_cast<const Word*>(f.data) + shift, p);
  QUARKSMITH_UNROLL
  for (int n = 0; n < packets; ++n) prefetch(at + (group * packets + n) * site_block);
}

template <int W>
QUARKSMITH_INLINE float load_norm(const Operand& f, const Place& p, int rhs) {
  return (f.norm + rhs * f.norm_rhs_stride)[unsigned(p.block)];
}
template <int W>
QUARKSMITH_INLINE void store_norm(const Operand& f, const Place& p, int rhs, float norm) {
  (f.norm + rhs * f.norm_rhs_stride)[unsigned(p.block)] = norm;
}

}  // namespace quarksmith::QUARKSMITH_TARGET
