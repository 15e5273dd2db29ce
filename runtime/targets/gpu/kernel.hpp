/// \file
/// What GPUs have in common: a site is a thread, a real number a float or a double. The names declared here are those
/// of the CPU target, in the same order; W, the number of lanes, is always 1. Part of a target's kernel.hpp, which says
/// before what the instructions of its processors are called.
#pragma once

#include "runtime/kernels/arguments.hpp"
#include "runtime/kernels/slabs.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// A branch would keep the loads of one hop from being issued together with those of the next.
inline constexpr bool branch_on_crossing = false;
/// A site is one lane.
inline constexpr bool has_lanes = false;
/// Directions in which plain kernels look for ghost zones: none; runtime/targets/gpu/halo.hpp does.
inline constexpr int ghosts_in_place = 0;
/// Slices of a vector along the fifth dimension that are loaded together, so that memory is kept busy by few threads.
inline constexpr int slices_ahead = 4;

// --- lanes -----------------------------------------------------------------------------------------------------------

template <class T, int W>
using Lanes = T;

/// A number in memory.
template <class T, int W>
QUARKSMITH_INLINE T load_lanes(const T* from) {
  return *from;
}

/// Arithmetic type of one lane.
template <class R>
using Element = R;

template <class R>
QUARKSMITH_INLINE R broadcast(double value) {
  return static_cast<R>(value);
}

QUARKSMITH_INLINE double choose(const Scalar& s, double) { return s.d; }
QUARKSMITH_INLINE float choose(const Scalar& s, float) { return s.f; }
/// A run-time coefficient in the precision of R.
template <class R>
QUARKSMITH_INLINE R scalar(const Scalar& s) {
  return choose(s, R{});
}

template <class T, int W, class V>
QUARKSMITH_INLINE T convert(const V& v) {
  return static_cast<T>(v);
}

QUARKSMITH_INLINE float maximum(float a, float b) { return fmaxf(a, b); }
QUARKSMITH_INLINE double maximum(double a, double b) { return fmax(a, b); }
/// a b + c
QUARKSMITH_INLINE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
QUARKSMITH_INLINE double multiply_add(double a, double b, double c) { return fma(a, b, c); }
QUARKSMITH_INLINE float absolute(float a) { return fabsf(a); }
QUARKSMITH_INLINE double absolute(double a) { return fabs(a); }
/// 1/a and the root to a last digit or two, by the hardware's approximation and Newton's iteration: the correctly
/// rounded functions branch to a slow path.
QUARKSMITH_INLINE float reciprocal(float a) { return approximate_reciprocal(a); }
QUARKSMITH_INLINE double reciprocal(double a) {
  double y = approximate_reciprocal(a);
  y = fma(y, fma(-a, y, 1.0), y);
  return fma(y, fma(-a, y, 1.0), y);
}
QUARKSMITH_INLINE float square_root(float a) { return approximate_root(a); }
/// Arguments below 1e-290 count as that.
QUARKSMITH_INLINE double square_root(double a) {
  a = fmax(a, 1e-290);
  double y = approximate_inverse_root(a);
  y = fma(0.5 * y, fma(-a * y, y, 1.0), y);
  y = fma(0.5 * y, fma(-a * y, y, 1.0), y);
  const double root = a * y;
  return fma(0.5 * y, fma(-root, root, a), root);
}
/// The correctly rounded root.
QUARKSMITH_INLINE double root_of(double a) { return sqrt(a); }
/// Nearest integer.
template <int W>
QUARKSMITH_INLINE int nearest(float a) {
  return __float2int_rn(a);
}
template <int W>
QUARKSMITH_INLINE int nearest(double a) {
  return __double2int_rn(a);
}
/// The same bits as another type of the same size.
template <int W>
QUARKSMITH_INLINE float float_of_bits(unsigned v) {
  return __uint_as_float(v);
}
template <int W>
QUARKSMITH_INLINE unsigned bits_of_float(float v) {
  return __float_as_uint(v);
}
template <int W>
QUARKSMITH_INLINE int as_signed(unsigned v) {
  return static_cast<int>(v);
}
template <int W>
QUARKSMITH_INLINE unsigned as_unsigned(int v) {
  return static_cast<unsigned>(v);
}

/// The one lane of v, and back.
template <class R>
QUARKSMITH_INLINE R get_lane(const R& v, int) {
  return v;
}
template <class R>
QUARKSMITH_INLINE void set_lane(R& v, int, R value) {
  v = value;
}
QUARKSMITH_INLINE double logarithm(double x) { return log(x); }
QUARKSMITH_INLINE double exponential_of(double x) { return exp(x); }
/// cos(pi x), sin(pi x)
QUARKSMITH_INLINE double cosine_pi(double x) { return cospi(x); }
QUARKSMITH_INLINE double sine_pi(double x) { return sinpi(x); }
/// The sum over groups of `Count` threads of a warp, a power of two, of which all or none come here.
template <int Count, class T>
QUARKSMITH_INLINE T sum_of_threads(T v) {
  QUARKSMITH_UNROLL
  for (int distance = 1; distance < Count; distance *= 2) v += of_partner<Count>(v, distance);
  return v;
}
/// No load that follows is moved before: what is loaded later needs no registers yet.
QUARKSMITH_INLINE void in_order() { asm volatile("" ::: "memory"); }
/// The same for the assembler too, which moves no load across a barrier of the warp.
QUARKSMITH_INLINE void in_turns() {
  in_order();
  barrier_of_warp();
}
QUARKSMITH_INLINE double arc_cosine(double x) { return acos(x); }

}  // namespace quarksmith::QUARKSMITH_TARGET

#include "runtime/targets/gpu/sums.hpp"
#include "runtime/targets/gpu/words.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// N numbers for each of the places that a thread keeps in shared memory while it works on a site; threads do not
/// share. The launch provides the memory: shared_bytes below.
template <class T, int W, int N, int Most>
class Kept {
 public:
  QUARKSMITH_INLINE Kept() { mine_ = reinterpret_cast<P*>(launched_memory()) + threadIdx.x; }
  QUARKSMITH_INLINE void put(int place, const Words<T, W, N>& numbers) {
    Packed u;
    u.words = numbers;
    QUARKSMITH_UNROLL
    for (int n = 0; n < packets; ++n) mine_[(place * packets + n) * blockDim.x] = u.packet[n];
  }
  QUARKSMITH_INLINE Words<T, W, N> get(int place) const {
    Packed u;
    QUARKSMITH_UNROLL
    for (int n = 0; n < packets; ++n) u.packet[n] = mine_[(place * packets + n) * blockDim.x];
    return u.words;
  }

 private:
  static constexpr int bytes = N * int(sizeof(T)), vector = vector_bytes_of<bytes>, packets = bytes / vector;
  using P = typename Packet<vector>::type;
  union Packed {
    Words<T, W, N> words;
    P packet[packets];
  };
  P* mine_;
};

// --- lanes across the boundary of a sub-lattice: none here -----------------------------------------------------------

template <class R>
QUARKSMITH_INLINE R exchange(const R& v, const int*) {
  return v;
}
template <class R>
QUARKSMITH_INLINE R where_crossing(const int*, R edge, R) {
  return edge;
}
template <class V>
QUARKSMITH_INLINE V choose_lanes(const int*, const V& there, const V&) {
  return there;
}
QUARKSMITH_INLINE bool opaque(bool value) { return value; }

// --- loops -----------------------------------------------------------------------------------------------------------

QUARKSMITH_INLINE int divide(int n, const Divisor& d);  // runtime/kernels/site.hpp

/// Which site a thread works on: threads follow the numbering of sites.
struct InOrder {
  static QUARKSMITH_INLINE int site(const Geometry& g, int index) {
    return g.slab == 0 ? index : in_slabs(index, g.stride[2], g.extent[2], g.extent[3], g.slab);
  }
};
/// Rows of x are taken in boxes of 2 x 2 x 2 of y, z, t, whose neighbours largely lie in the same block of threads.
struct Boxes {
  static QUARKSMITH_INLINE int site(const Geometry& g, int index) {
    const int half_x = g.extent[0] / 2, row = divide(index, g.by_half_x);
    int box = row >> 3;
    if (g.slab != 0) box = in_slabs(box, g.extent[1] / 2, g.extent[2] / 2, g.extent[3] / 2, g.slab / 2);
    const int above = divide(2 * box, g.by_y), t = divide(2 * above, g.by_z);  // n / (Y/2) = 2n / Y
    const int y = 2 * (box - above * (g.extent[1] / 2)) + (row & 1);
    const int z = 2 * (above - t * (g.extent[2] / 2)) + (row >> 1 & 1);
    return (((2 * t + (row >> 2 & 1)) * g.extent[2] + z) * g.extent[1] + y) * half_x + index - row * half_x;
  }
};

template <class K>
QUARKSMITH_INLINE bool left_out(const Arguments& a, int index);  // runtime/kernels/site.hpp
QUARKSMITH_ANYWHERE const Geometry& worked_on(const Arguments& a);

/// Whether a launch of kernel K works on all sites, not on those of one parity.
template <class K, class = int>
inline constexpr bool takes_both_parities = false;
template <class K>
inline constexpr bool takes_both_parities<K, decltype(int(K::both_parities))> = true;

/// What a thread of such a kernel works on, -1: nothing. Half of each block takes even sites, the other half the odd
/// ones among them: what they share comes from the multiprocessor's own cache.
template <int Block, class Order>
QUARKSMITH_INLINE int number_in_halves(const Geometry& g, int count) {
  constexpr int half = Block / 2;
  const int odd = threadIdx.x / half, index = blockIdx.x * half + threadIdx.x - odd * half;
  return 2 * index < count ? 2 * Order::site(g, index) + odd : -1;
}

/// Whether threads of kernel K keep numbers in shared memory: Kept. Blocks are then smaller where it is short.
template <class K, class = int>
inline constexpr bool keeps_numbers = false;
template <class K>
inline constexpr bool keeps_numbers<K, decltype(int(K::kept_bytes(Arguments{})))> = true;

/// Whether row K is a hopping term whose epilogue reads x.
template <template <class, class, class, class, bool, int> class Body, class Codec, class LinkCodec, class Storage,
          class Epilogue, bool ComplexPhase, int Tile>
constexpr bool combines(const Body<Codec, LinkCodec, Storage, Epilogue, ComplexPhase, Tile>*) {
  return Epilogue::combines;
}
constexpr bool combines(...) { return false; }
template <class K>
inline constexpr bool combines_fields = combines(static_cast<const K*>(nullptr));

template <class K>
QUARKSMITH_INLINE void add_products(const Arguments& a, int index, int rhs, int number);  // products.hpp

/// Threads of a block of kernel K, where it asks for a number, or as launched.
template <class K, int Block, class = int>
inline constexpr int threads_of = Block;
template <class K, int Block>
inline constexpr int threads_of<K, Block, decltype(int(K::threads))> = K::threads;

/// The kernel of every row K: one thread a site, blockIdx.y numbers the tiles of right-hand sides.
template <class K, int Block, int MinBlocks, class Order>
__global__ QUARKSMITH_BOUNDS(Block, MinBlocks) void kernel(const QUARKSMITH_CONSTANT Arguments given) {
  const Arguments& a = as_launched(given);
  const int count = K::count(a), rhs = blockIdx.y * K::tile;
  int index = blockIdx.x * (keeps_numbers<K> ? int(blockDim.x) : Block) + threadIdx.x;
  if (inactive(a, rhs, K::tile)) return;  // the same for all threads of a block
  if constexpr (takes_both_parities<K>) {
    static_assert(K::sums == 0);
    if (index = number_in_halves<Block, Order>(worked_on(a), count); index < 0) return;
    K::template site<1>(a, index, rhs, static_cast<double*>(nullptr));
  } else if constexpr (K::sums == 0) {
    const int number = index;
    if (number >= count) return;
    index = Order::site(a.geometry, number);
    if (left_out<K>(a, index)) return;
    K::template site<1>(a, index, rhs, static_cast<double*>(nullptr));
    if constexpr (combines_fields<K>) add_products<K>(a, index, rhs, number);
  } else {
    double sums[K::sums] = {};
    if (a.stage == SumStage::program) index = count;
    for (; index < count; index += gridDim.x * Block) {
      if (a.rows == nullptr)
        K::template site<1>(a, index, rhs, sums);
      else
        for (int n = 0; n < K::sums; ++n)
          sums[n] += a.rows[(static_cast<long long>(rhs) * count + index) * K::sums + n];
    }
    reduce<K>(a, rhs, sums);
  }
}

/// What a row is compiled for: any number of right-hand sides, each on its own, or a batch, for which one, two or four
/// groups of threads share links (runtime/targets/gpu/batch.hpp).
enum class Rhs { any, alone, batch, pairs, quads };
constexpr int groups_of(Rhs form) { return form == Rhs::quads ? 4 : form == Rhs::pairs ? 2 : 1; }

template <class Links, bool Long, int Block, int Ghosts = 0>
struct KeptLinks;  // runtime/targets/gpu/batch.hpp

/// Whether kernel K has links that a batch can keep: copies to shared memory move at least four bytes, and it must hold
/// those of a warp.
template <class K, bool Long = K::long_hops>
constexpr bool can_keep_links(int) {
  using Links = typename K::template Links<1>;
  if constexpr (Links::can_be_kept) {
    return KeptLinks<Links, Long, widest_warp>::bytes <= most_memory;
  } else {
    return false;
  }
}
template <class K>
constexpr bool can_keep_links(...) {
  return false;
}

template <class K, int Block, int MinBlocks, class Order, int Groups>
void apply_batch(const Arguments& a, const Launch& launch);

/// Allows launches of a kernel with so many bytes of shared memory.
template <class Function>
gpuError_t allow_memory(Function* function, int bytes) {
  return gpuFuncSetAttribute(reinterpret_cast<const void*>(function), gpuFuncAttributeMaxDynamicSharedMemorySize,
                             bytes);
}

/// Launches kernel K on the stream of `launch`; errors of a launch are left to gpuGetLastError.
template <class K, int Block, int MinBlocks, class Order = InOrder, Rhs Form = Rhs::any>
void apply(const Arguments& a, const Launch& launch) {
  constexpr bool keeps = can_keep_links<K>(0) && Form != Rhs::alone;
  if constexpr (keeps)
    if (Form != Rhs::any || a.rhs > K::tile) return apply_batch<K, Block, MinBlocks, Order, groups_of(Form)>(a, launch);
  if constexpr (!keeps || Form == Rhs::any) {
    constexpr int block = threads_of<K, Block>;
    int threads = block, shared = 0;
    auto* const function = kernel<K, block, MinBlocks, Order>;
    if constexpr (keeps_numbers<K>) {
      static_assert(K::sums == 0);
      const int each = K::kept_bytes(a);
      while (threads > 1 && each * threads > most_memory) threads /= 2;
      shared = each * threads;
      constexpr int granted = 48 << 10;  // without asking; a failure is met again by the launch
      if (shared > granted) (void)allow_memory(function, shared);
    }
    int blocks = (K::count(a) + threads - 1) / threads;
    if (K::sums > 0 && blocks > reducing_blocks) blocks = reducing_blocks;
    const dim3 grid(blocks, a.rhs / K::tile);
    gpuLaunchKernel(function, grid, dim3(threads), shared, static_cast<gpuStream_t>(launch.stream), a);
  }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
