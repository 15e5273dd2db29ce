/// \file
/// The CPU target: a site is a block of W lanes, a real number a GCC/Clang vector of W lanes. Lanes are sub-lattices:
/// lane l covers its own box of the lattice, so that neighbours of a block lie in one block and only hops that leave
/// the box exchange lanes (virtual nodes; P. Boyle et al., arXiv:1512.03487). The names declared here are those of
/// target_cuda.hpp, in the same order. QUARKSMITH_TARGET, a namespace per instruction set and width, is set by the
/// build.
#pragma once

#include "runtime/arguments.hpp"

#define QUARKSMITH_INLINE inline __attribute__((always_inline))
#define QUARKSMITH_HOST_DEVICE
#define QUARKSMITH_FUNCTION inline
#define QUARKSMITH_OUTLINED __attribute__((noinline))
#define QUARKSMITH_UNROLL _Pragma("GCC unroll 32")
#define QUARKSMITH_UNROLL_TILE

namespace quarksmith::QUARKSMITH_TARGET {

/// Hops that leave the sub-lattice are rare and exchange lanes: a branch.
inline constexpr bool branch_on_crossing = true;
/// Directions in which kernels look for ghost zones: all, behind that branch.
inline constexpr int ghosts_in_place = 15;

#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#else
inline constexpr int register_bytes = 32;
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
/// cos(pi x), sin(pi x)
QUARKSMITH_INLINE double cosine_pi(double x) { return __builtin_cos(3.14159265358979323846 * x); }
QUARKSMITH_INLINE double sine_pi(double x) { return __builtin_sin(3.14159265358979323846 * x); }

// --- memory ----------------------------------------------------------------------------------------------------------

/// Where a site lies in the blocks of a field: the block, and the lane when single lanes are addressed (W = 1).
struct Place {
  int block = 0;
  int lane = 0;
};

QUARKSMITH_INLINE Place with_lane(const Place& p, int lane) { return {p.block, lane}; }
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

/// Group number `group` of the Groups of a site, of N words each.
template <class Word, int W, int N, int Groups, bool Streamed = false>
QUARKSMITH_INLINE Words<Word, W, N> load_words(const Operand& f, const Place& p, long long shift, int group) {
  const long long first = p.block * static_cast<long long>(N * Groups) + group * N;
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

template <class Word, int W, int N, int Groups>
QUARKSMITH_INLINE void store_words(const Operand& f, const Place& p, long long shift, int group,
                                   const Words<Word, W, N>& words) {
  const long long first = p.block * static_cast<long long>(N * Groups) + group * N;
  Word* base = static_cast<Word*>(f.data) + shift;
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) {
    if constexpr (W == 1) {
      base[(first + n) * f.lanes + p.lane] = words.w[n];
    } else {
      store_lanes<Word, W>(base + (first + n) * W, words.w[n]);
    }
  }
}

template <int W>
QUARKSMITH_INLINE Lanes<float, W> load_norm(const Operand& f, const Place& p, int rhs) {
  const float* base = f.norm + rhs * f.norm_rhs_stride + (long long)p.block * f.lanes;
  return load_lanes<float, W>(base + p.lane);
}
template <int W>
QUARKSMITH_INLINE void store_norm(const Operand& f, const Place& p, int rhs, const Lanes<float, W>& norm) {
  float* base = f.norm + rhs * f.norm_rhs_stride + (long long)p.block * f.lanes;
  store_lanes<float, W>(base + p.lane, norm);
}

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

/// The same value, of which the compiler knows nothing: it would copy what follows into either branch.
QUARKSMITH_INLINE bool unforeseen(bool value) {
  int v = value;
  asm("" : "+r"(v));
  return v != 0;
}

// --- loops -----------------------------------------------------------------------------------------------------------

/// Blocks summed as one chunk: fixed, so that sums do not depend on the number of threads.
inline constexpr int chunk_blocks = 32;

/// Adds the lanes of `sums` in a fixed order.
template <int W>
QUARKSMITH_INLINE double sum_lanes(const Lanes<double, W>& v) {
  if constexpr (W == 1) {
    return v;
  } else {
    double total = 0;
    for (int l = 0; l < W; ++l) total += v[l];
    return total;
  }
}

QUARKSMITH_INLINE bool at_rest(const Arguments& a, int rhs, int tile);  // runtime/scalars.hpp

/// Calls body(index, rhs, sums) for every block below `count` and every tile of right-hand sides; the sums of kernel K
/// for each right-hand side are added up in a fixed order into a.sums[rhs * N + n], or given to its program on device
/// scalars.
template <class K, int W, class Body>
QUARKSMITH_INLINE void for_each(const Arguments& a, int count, const Body& body) {
  constexpr int N = K::sums;
  const int chunks = (count + chunk_blocks - 1) / chunk_blocks;
  for (int rhs = 0; rhs < a.rhs; rhs += K::tile) {
    if (at_rest(a, rhs, K::tile)) continue;
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < chunks; ++chunk) {
      Lanes<double, W> sums[N + 1] = {};
      const int end = (chunk + 1) * chunk_blocks < count ? (chunk + 1) * chunk_blocks : count;
      for (int index = chunk * chunk_blocks; index < end; ++index) body(index, rhs, sums);
      for (int n = 0; n < N; ++n) a.partial[chunk * N + n] = sum_lanes<W>(sums[n]);
    }
    double totals[N + 1] = {};
    for (int n = 0; n < N; ++n)
      for (int chunk = 0; chunk < chunks; ++chunk) totals[n] += a.partial[chunk * N + n];
    if constexpr (requires { K::then(a, rhs, totals); }) {
      if (N > 0 && a.team != nullptr) a.team->sum(a.team->context, totals, N);
      K::then(a, rhs, totals);
    } else {
      for (int n = 0; n < N; ++n) a.sums[rhs * N + n] = totals[n];
    }
  }
}

/// Blocks in the order of their numbers.
struct InOrder {
  static QUARKSMITH_INLINE int block(const Geometry&, int index) { return index; }
};
/// Slabs of a few z, for all t, one after the other: three time slices of a slab stay in the second cache.
struct Boxes {
  static constexpr int thickness = 4;
  static QUARKSMITH_INLINE int block(const Geometry& g, int index) {
    const int plane = g.extent[0] / 2 * g.extent[1], z_extent = g.extent[2];
    if (z_extent % thickness != 0) return index;
    const int number = index / plane, slab = number / (thickness * g.extent[3]);
    const int inside = number - slab * thickness * g.extent[3], t = inside / thickness;
    return (t * z_extent + slab * thickness + inside % thickness) * plane + index % plane;
  }
};

#if defined(QUARKSMITH_ONE_LANE)
template <class K>
inline constexpr int lanes_of = 1;
#else
template <class K>
inline constexpr int lanes_of = K::vectorised ? full_lanes<typename K::Element> : 1;
#endif

template <class Crossing, class Codec, int W, int Mu, int Sign>
void pack(const Arguments& a, const Operand& to, int index, int rhs);  // runtime/view.hpp

/// What all hops (Mu, Sign) of a neighbour need.
template <class Crossing, class Codec, int W, int Mu, int Sign>
void pack_face(const Arguments& a) {
  for (int rhs = 0; rhs < a.rhs; ++rhs) {
#pragma omp parallel for schedule(static)
    for (int index = 0; index < a.halo->face[Mu]; ++index)
      pack<Crossing, Codec, W, Mu, Sign>(a, a.halo->leaving[Mu][Sign < 0], index, rhs);
  }
}

/// Packs all faces; the other work of a hopping term is that of `apply` with a list of blocks.
template <class K>
void apply_halo(const Arguments& a, const HaloWork&, const Launch&) {
  using C = typename K::Crossing;
  using F = typename K::Format;
  constexpr int W = lanes_of<K>;
  pack_face<C, F, W, 0, +1>(a), pack_face<C, F, W, 0, -1>(a);
  pack_face<C, F, W, 1, +1>(a), pack_face<C, F, W, 1, -1>(a);
  pack_face<C, F, W, 2, +1>(a), pack_face<C, F, W, 2, -1>(a);
  pack_face<C, F, W, 3, +1>(a), pack_face<C, F, W, 3, -1>(a);
}

/// Runs kernel K; the build compiles every kernel twice, for blocks of full lanes and (QUARKSMITH_ONE_LANE) of one.
template <class K, class Order = InOrder>
void apply(const Arguments& a, const Launch&) {
  constexpr int lanes = lanes_of<K>;
  const int count = a.list != nullptr ? a.list_count : K::count(a);
  for_each<K, lanes>(a, count, [&](int number, int rhs, Lanes<double, lanes>* sums) {
    const int index = a.list != nullptr ? a.list[number] : Order::block(a.geometry, number);
    K::template site<lanes>(a, index, rhs, sums);
  });
}

}  // namespace quarksmith::QUARKSMITH_TARGET
