/// \file
/// The CPU target: a site is a block of W lanes, a real number a GCC/Clang vector of W lanes. Lanes are sub-lattices:
/// lane l covers its own box of the lattice, so that neighbours of a block lie in one block and only hops that leave
/// the box exchange lanes (virtual nodes; P. Boyle et al., arXiv:1512.03487). The names declared here are those of
/// all targets, in the same order. QUARKSMITH_TARGET, a namespace per instruction set and width, is set by the
/// build.
#pragma once

#include "runtime/kernels/arguments.hpp"

#define QUARKSMITH_INLINE inline __attribute__((always_inline))
#define QUARKSMITH_HOST_DEVICE
#define QUARKSMITH_FUNCTION inline
#define QUARKSMITH_OUTLINED __attribute__((noinline))
#define QUARKSMITH_UNROLL _Pragma("GCC unroll 32")
#define QUARKSMITH_ROLLED _Pragma("GCC unroll 1")
#define QUARKSMITH_UNROLL_TILE

namespace quarksmith::QUARKSMITH_TARGET {

/// Hops that leave the sub-lattice are rare and exchange lanes: a branch.
inline constexpr bool branch_on_crossing = true;
/// Whether a site may be a block of lanes, which change places where a hop leaves their sub-lattices.
inline constexpr bool has_lanes = true;
/// Directions in which kernels look for ghost zones: all, behind that branch.
inline constexpr int ghosts_in_place = 15;
/// Slices of a vector along the fifth dimension that are loaded together.
inline constexpr int slices_ahead = 1;

#if defined(__AVX512F__)
inline constexpr int register_bytes = 64, registers = 32;
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0  // of a fixed length
inline constexpr int register_bytes = __ARM_FEATURE_SVE_BITS / 8, registers = 32;
#elif defined(__aarch64__)                                           // NEON
inline constexpr int register_bytes = 16, registers = 32;
#else                                                                // AVX2
inline constexpr int register_bytes = 32, registers = 16;
#endif

// --- lanes -----------------------------------------------------------------------------------------------------------

template <class T, int W>
struct LanesOf {
  typedef T type __attribute__((vector_size(W * sizeof(T))));
  typedef T in_memory __attribute__((vector_size(W * sizeof(T)), aligned(sizeof(T)), may_alias));
};
template <class T>
struct LanesOf<T, 1> {
  using type = T;
  using in_memory = T;
};
/// W numbers of type T.
template <class T, int W>
using Lanes = typename LanesOf<T, W>::type;

/// W consecutive numbers in memory, aligned as single ones are.
template <class T, int W>
QUARKSMITH_INLINE Lanes<T, W> load_lanes(const T* from) {
  return *reinterpret_cast<const typename LanesOf<T, W>::in_memory*>(from);
}
template <class T, int W>
QUARKSMITH_INLINE void store_lanes(T* to, const Lanes<T, W>& v) {
  *reinterpret_cast<typename LanesOf<T, W>::in_memory*>(to) = v;
}

/// Number of lanes that fill a register with numbers of type T.
template <class T>
inline constexpr int full_lanes = register_bytes / int(sizeof(T));

template <class R>
struct ElementOf {
  using type = __typeof__(R{}[0] + R{}[0]);
};
template <>
struct ElementOf<float> {
  using type = float;
};
template <>
struct ElementOf<double> {
  using type = double;
};
/// Arithmetic type of one lane.
template <class R>
using Element = typename ElementOf<R>::type;

template <class R>
QUARKSMITH_INLINE R broadcast(double value) {
  return R{} + Element<R>(value);
}

QUARKSMITH_INLINE double choose(const Scalar& s, double) { return s.d; }
QUARKSMITH_INLINE float choose(const Scalar& s, float) { return s.f; }
/// A run-time coefficient in the precision of R, the same for all lanes.
template <class R>
QUARKSMITH_INLINE Element<R> scalar(const Scalar& s) {
  return choose(s, Element<R>{});
}

/// Lane-wise conversion to numbers of type T.
template <class T, int W, class V>
QUARKSMITH_INLINE Lanes<T, W> convert(const V& v) {
  if constexpr (W == 1) {
    return static_cast<T>(v);
  } else {
#if defined(__AVX512F__) && !defined(__clang__)
    // GCC would widen half by half.
    if constexpr (W == 16 && sizeof(T) == 4 && sizeof(V) == 32 && T(0.5) == T(0)) {
      using Shorts = short __attribute__((vector_size(32)));
      using Integers = int __attribute__((vector_size(64)));
      return (Lanes<T, W>)__builtin_ia32_pmovsxwd512_mask((Shorts)v, Integers{}, (unsigned short)(-1));
    }
#endif
    return __builtin_convertvector(v, Lanes<T, W>);
  }
}

template <class R>
QUARKSMITH_INLINE R maximum(const R& a, const R& b) {
  return a > b ? a : b;
}
/// a b + c
template <class R>
QUARKSMITH_INLINE R multiply_add(const R& a, const R& b, const R& c) {
  return a * b + c;
}
template <class R>
QUARKSMITH_INLINE R absolute(const R& a) {
  return a < R{} ? -a : a;
}
template <class R>
QUARKSMITH_INLINE R reciprocal(const R& a) {
  return broadcast<R>(1) / a;
}
template <class R>
QUARKSMITH_INLINE R square_root(const R& a) {
  if constexpr (__is_same(R, double)) {
    return __builtin_sqrt(a);
  } else if constexpr (__is_same(R, float)) {
    return __builtin_sqrtf(a);
  } else {
    R root;
    for (unsigned l = 0; l < sizeof(R) / sizeof(Element<R>); ++l) {
      if constexpr (sizeof(Element<R>) == 8) {
        root[l] = __builtin_sqrt(a[l]);
      } else {
        root[l] = __builtin_sqrtf(a[l]);
      }
    }
    return root;
  }
}
/// The correctly rounded root.
QUARKSMITH_INLINE double root_of(double a) { return __builtin_sqrt(a); }
/// Nearest integer.
template <int W, class R>
QUARKSMITH_INLINE Lanes<int, W> nearest(const R& a) {
  const R half = broadcast<R>(0.5);
  return convert<int, W>(a + (a < R{} ? -half : half));
}
/// The same bits as another type of the same size.
template <int W>
QUARKSMITH_INLINE Lanes<float, W> float_of_bits(const Lanes<unsigned, W>& v) {
  return __builtin_bit_cast(Lanes<float, W>, v);
}
template <int W>
QUARKSMITH_INLINE Lanes<unsigned, W> bits_of_float(const Lanes<float, W>& v) {
  return __builtin_bit_cast(Lanes<unsigned, W>, v);
}
template <int W>
QUARKSMITH_INLINE Lanes<int, W> as_signed(const Lanes<unsigned, W>& v) {
  return __builtin_bit_cast(Lanes<int, W>, v);
}
template <int W>
QUARKSMITH_INLINE Lanes<unsigned, W> as_unsigned(const Lanes<int, W>& v) {
  return __builtin_bit_cast(Lanes<unsigned, W>, v);
}

/// Lane l of v as a plain number, and back.
template <class R>
QUARKSMITH_INLINE Element<R> get_lane(const R& v, int l) {
  if constexpr (sizeof(R) == sizeof(Element<R>)) {
    return v;
  } else {
    return v[l];
  }
}
template <class R>
QUARKSMITH_INLINE void set_lane(R& v, int l, Element<R> value) {
  if constexpr (sizeof(R) == sizeof(Element<R>)) {
    v = value;
  } else {
    v[l] = value;
  }
}
QUARKSMITH_INLINE double logarithm(double x) { return __builtin_log(x); }
QUARKSMITH_INLINE double exponential_of(double x) { return __builtin_exp(x); }
/// cos(pi x), sin(pi x)
QUARKSMITH_INLINE double cosine_pi(double x) { return __builtin_cos(3.14159265358979323846 * x); }
QUARKSMITH_INLINE double sine_pi(double x) { return __builtin_sin(3.14159265358979323846 * x); }
/// No load that follows is moved before: what is loaded later needs no registers yet.
QUARKSMITH_INLINE void in_order() { asm volatile("" ::: "memory"); }
/// Nothing here: what is loaded again is in the first cache.
QUARKSMITH_INLINE void in_turns() {}
QUARKSMITH_INLINE double arc_cosine(double x) { return __builtin_acos(x); }

// --- memory ----------------------------------------------------------------------------------------------------------

/// Where a site lies in the blocks of a field: the block, and when single lanes are addressed (W = 1) the first of its
/// lanes, and how far the lane of its next copy is (runtime/lattice/geometry.hpp).
struct Place {
  int block = 0;
  int lane = 0;
  int boxes = max_lanes;
};

QUARKSMITH_INLINE Place with_lane(const Place& p, int lane, int boxes) { return {p.block, lane, boxes}; }
/// Where number `index` of the blocks that a field holds lies.
QUARKSMITH_INLINE Place element_place(const Geometry&, int index) { return {index}; }

/// N consecutive words of W lanes.
template <class Word, int W, int N>
struct Words {
  Lanes<Word, W> w[N];
};

/// Integers of one or two bytes, times a scale, as floats.
template <int W, int N, class Word>
QUARKSMITH_INLINE Words<float, W, N> integers(const Words<Word, W, N>& words, float scale) {
  Words<float, W, N> reals;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) {
    constexpr int sign = 1 << (8 * sizeof(Word) - 1);
    reals.w[n] = convert<float, W>(convert<int, W>(words.w[n] ^ Word(sign))) * scale;
  }
  return reals;
}
/// The other way: numbers times a scale as the nearest integers, which count from zero.
template <class Word, int W, int N>
QUARKSMITH_INLINE Words<Word, W, N> to_integers(const Words<float, W, N>& reals, const Lanes<float, W>& scale) {
  Words<Word, W, N> words;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) {
    constexpr int sign = 1 << (8 * sizeof(Word) - 1);
    words.w[n] = convert<Word, W>(nearest<W>(reals.w[n] * scale) ^ sign);
  }
  return words;
}
/// Integers that will be added to each other, see value.
template <int W, int N, class Word>
QUARKSMITH_INLINE Words<float, W, N> summands(const Words<Word, W, N>& words) {
  return integers<W, N>(words, 1.0f);
}

/// The first N words of group number `group` of the Groups of a site, of Held words each.
template <class Word, int W, int N, int Groups, bool Streamed = false, int Held = N>
QUARKSMITH_INLINE Words<Word, W, N> load_words(const Operand& f, const Place& p, long long shift, int group) {
  const long long first = p.block * static_cast<long long>(Held * Groups) + group * Held;
  const Word* base = static_cast<const Word*>(f.data) + shift;
  Words<Word, W, N> words;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) {
    if constexpr (W == 1) {
      words.w[n] = base[(first + n) * f.lanes + p.lane];
    } else {
      words.w[n] = load_lanes<Word, W>(base + (first + n) * W);
    }
  }
  return words;
}

template <class Word, int W, int N, int Groups, bool Last = false>
QUARKSMITH_INLINE void store_words(const Operand& f, const Place& p, long long shift, int group,
                                   const Words<Word, W, N>& words) {
  const long long first = p.block * static_cast<long long>(N * Groups) + group * N;
  Word* base = static_cast<Word*>(f.data) + shift;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) {
    if constexpr (W == 1) {
      for (int lane = p.lane; lane < f.lanes; lane += p.boxes) base[(first + n) * f.lanes + lane] = words.w[n];
    } else {
      store_lanes<Word, W>(base + (first + n) * W, words.w[n]);
    }
  }
}

/// Prefetches group number `group` of a site into L2: the working set of a kernel fills L1.
template <class Word, int W, int N, int Groups = 1>
QUARKSMITH_INLINE void prefetch_words(const Operand& f, const Place& p, long long shift, int group = 0) {
  constexpr int line = 64, bytes = N * W * int(sizeof(Word));
  const long long first = p.block * static_cast<long long>(N * Groups) + group * N;
  const char* const base = reinterpret_cast<const char*>(static_cast<const Word*>(f.data) + shift + first * W);
  QUARKSMITH_ROLLED
  for (int at = 0; at < bytes; at += line) __builtin_prefetch(base + at, 0, 2);
}

template <int W>
QUARKSMITH_INLINE Lanes<float, W> load_norm(const Operand& f, const Place& p, int rhs) {
  const float* base = f.norm + rhs * f.norm_rhs_stride + (long long)p.block * f.lanes;
  return load_lanes<float, W>(base + p.lane);
}
template <int W>
QUARKSMITH_INLINE void store_norm(const Operand& f, const Place& p, int rhs, const Lanes<float, W>& norm) {
  float* base = f.norm + rhs * f.norm_rhs_stride + (long long)p.block * f.lanes;
  if constexpr (W == 1) {
    for (int lane = p.lane; lane < f.lanes; lane += p.boxes) base[lane] = norm;
  } else {
    store_lanes<float, W>(base, norm);
  }
}

/// N numbers for each of up to Most places that a thread keeps while it works on a block.
template <class T, int W, int N, int Most>
class Kept {
 public:
  QUARKSMITH_INLINE void put(int place, const Words<T, W, N>& numbers) { all_[place] = numbers; }
  QUARKSMITH_INLINE const Words<T, W, N>& get(int place) const { return all_[place]; }

 private:
  Words<T, W, N> all_[Most];
};

// --- lanes across the boundary of a sub-lattice ----------------------------------------------------------------------

template <class R>
struct IndexOf {
  using type = __typeof__(R{} < R{});
};

/// The numbers that arrive in each lane when a hop leaves the sub-lattice: lane l receives lane table[l].
template <class R>
QUARKSMITH_INLINE R exchange(const R& v, const int* table) {
  if constexpr (sizeof(R) == sizeof(Element<R>)) {
    return v;
  } else {
    constexpr int W = sizeof(R) / sizeof(Element<R>);
    const auto lane = load_lanes<int, W>(table);
    return __builtin_shuffle(v, __builtin_convertvector(lane, typename IndexOf<R>::type));
  }
}

/// `edge` in the lanes whose hop crosses the boundary of the lattice, `bulk` in the others.
template <class R>
QUARKSMITH_INLINE R where_crossing(const int* crossing, Element<R> edge, Element<R> bulk) {
  if constexpr (sizeof(R) == sizeof(Element<R>)) {
    return edge;
  } else {
    constexpr int W = sizeof(R) / sizeof(Element<R>);
    const auto mask = __builtin_convertvector(load_lanes<int, W>(crossing), typename IndexOf<R>::type);
    return mask ? broadcast<R>(edge) : broadcast<R>(bulk);
  }
}

/// `there` in the lanes that the table marks (all if there is none), `here` in the others.
template <class V>
QUARKSMITH_INLINE V choose_lanes(const int* table, const V& there, const V& here) {
  if (table == nullptr) return there;
  V v = there;
  for (unsigned l = 0; l < sizeof(V) / sizeof(v[0]); ++l) v[l] = table[l] != 0 ? there[l] : here[l];
  return v;
}

/// The same value, hidden from the optimiser, which would duplicate what follows in both branches.
QUARKSMITH_INLINE bool opaque(bool value) {
  int v = value;
  asm("" : "+r"(v));
  return v != 0;
}

}  // namespace quarksmith::QUARKSMITH_TARGET

#include "runtime/targets/cpu/loops.hpp"
