/// \file
/// The CUDA target: a site is a thread, a real number a float or a double. The names declared here are those of
/// target_cpu.hpp, in the same order; W, the number of lanes, is always 1.
#pragma once

#include "runtime/arguments.hpp"

#define QUARKSMITH_TARGET cuda
#define QUARKSMITH_INLINE __device__ __forceinline__
#define QUARKSMITH_HOST_DEVICE __host__ __device__
#define QUARKSMITH_FUNCTION __device__ inline
#define QUARKSMITH_OUTLINED __device__ __forceinline__
#define QUARKSMITH_UNROLL _Pragma("unroll")
#define QUARKSMITH_UNROLL_TILE _Pragma("unroll")

namespace quarksmith::QUARKSMITH_TARGET {

// --- lanes -----------------------------------------------------------------------------------------------------------

template <class T, int W>
using Lanes = T;

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
QUARKSMITH_INLINE float absolute(float a) { return fabsf(a); }
QUARKSMITH_INLINE double absolute(double a) { return fabs(a); }
QUARKSMITH_INLINE float reciprocal(float a) { return __frcp_rn(a); }
QUARKSMITH_INLINE double reciprocal(double a) { return __drcp_rn(a); }
QUARKSMITH_INLINE float square_root(float a) { return __fsqrt_rn(a); }
QUARKSMITH_INLINE double square_root(double a) { return __dsqrt_rn(a); }
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
/// cos(pi x), sin(pi x)
QUARKSMITH_INLINE double cosine_pi(double x) { return cospi(x); }
QUARKSMITH_INLINE double sine_pi(double x) { return sinpi(x); }

// --- memory ----------------------------------------------------------------------------------------------------------

/// Where a site lies in a field.
struct Place {
  int block = 0;
};

QUARKSMITH_INLINE Place with_lane(const Place& p, int) { return p; }

/// N words of one site.
template <class Word, int W, int N>
struct Words {
  Word w[N];
};

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

template <class Word, int W, int N>
QUARKSMITH_INLINE Words<Word, W, N> load_words(const Operand& f, const Place& p, long long shift, int first) {
  constexpr int bytes = vector_bytes_of<int(N * sizeof(Word))>, words_each = bytes / sizeof(Word),
                packets = N / words_each;
  using P = typename Packet<bytes>::type;
  const P* base = reinterpret_cast<const P*>(static_cast<const Word*>(f.data) + shift);
  union {
    P packet[packets];
    Words<Word, W, N> words;
  } u;
  const long long start = (first / words_each) * f.stride + p.block;
  QUARKSMITH_UNROLL
  for (int n = 0; n < packets; ++n) u.packet[n] = base[start + n * f.stride];
  return u.words;
}

template <class Word, int W, int N>
QUARKSMITH_INLINE void store_words(const Operand& f, const Place& p, long long shift, int first,
                                   const Words<Word, W, N>& words) {
  constexpr int bytes = vector_bytes_of<int(N * sizeof(Word))>, words_each = bytes / sizeof(Word),
                packets = N / words_each;
  using P = typename Packet<bytes>::type;
  P* base = reinterpret_cast<P*>(static_cast<Word*>(f.data) + shift);
  union {
    P packet[packets];
    Words<Word, W, N> words;
  } u;
  u.words = words;
  const long long start = (first / words_each) * f.stride + p.block;
  QUARKSMITH_UNROLL
  for (int n = 0; n < packets; ++n) base[start + n * f.stride] = u.packet[n];
}

template <int W>
QUARKSMITH_INLINE float load_norm(const Operand& f, const Place& p, int rhs) {
  return f.norm[rhs * f.norm_rhs_stride + p.block];
}
template <int W>
QUARKSMITH_INLINE void store_norm(const Operand& f, const Place& p, int rhs, float norm) {
  f.norm[rhs * f.norm_rhs_stride + p.block] = norm;
}

// --- lanes across the boundary of a sub-lattice: none here -----------------------------------------------------------

template <class R>
QUARKSMITH_INLINE R exchange(const R& v, const int*) {
  return v;
}
template <class R>
QUARKSMITH_INLINE R where_crossing(const int*, R edge, R) {
  return edge;
}

// --- loops -----------------------------------------------------------------------------------------------------------

/// Blocks of a reducing launch: fixed, so that sums are the same from run to run.
inline constexpr int reducing_blocks = 528;

/// Sum over the threads of a block, valid in thread 0; the order of additions is fixed.
QUARKSMITH_INLINE double sum_block(double value) {
  __shared__ double warp_sums[32];
  for (int shift = 16; shift > 0; shift /= 2) value += __shfl_down_sync(0xffffffffu, value, shift);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = value;
  __syncthreads();
  double total = 0;
  if (threadIdx.x == 0)
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) total += warp_sums[warp];
  return total;
}

/// Adds each block's sums to a.partial; the last block to finish adds those up, in the order of the blocks.
template <int N>
QUARKSMITH_INLINE void reduce(const Arguments& a, int rhs, const double* sums) {
  double* partial = a.partial + static_cast<long long>(rhs) * gridDim.x * N;
  for (int n = 0; n < N; ++n) {
    const double total = sum_block(sums[n]);
    if (threadIdx.x == 0) partial[blockIdx.x * N + n] = total;
  }
  __shared__ bool last;
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(a.ticket + rhs, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int n = 0; n < N; ++n) {
    double mine = 0;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x)
      mine += static_cast<volatile double*>(partial)[block * N + n];
    const double total = sum_block(mine);
    if (threadIdx.x == 0) a.sums[rhs * N + n] = total;
  }
  if (threadIdx.x == 0) a.ticket[rhs] = 0;
}

/// The kernel of every row K: one thread a site, blockIdx.y numbers the tiles of right-hand sides.
template <class K, int Block, int MinBlocks>
__global__ __launch_bounds__(Block, MinBlocks) void kernel(const __grid_constant__ Arguments a) {
  const int count = K::count(a), rhs = blockIdx.y * K::tile;
  int index = blockIdx.x * Block + threadIdx.x;
  if constexpr (K::sums == 0) {
    if (index < count) K::template site<1>(a, index, rhs, static_cast<double*>(nullptr));
  } else {
    double sums[K::sums] = {};
    for (; index < count; index += gridDim.x * Block) K::template site<1>(a, index, rhs, sums);
    reduce<K::sums>(a, rhs, sums);
  }
}

/// Launches kernel K on the stream of `launch`; errors of a launch are left to cudaGetLastError.
template <class K, int Block, int MinBlocks>
void apply(const Arguments& a, const Launch& launch) {
  int blocks = (K::count(a) + Block - 1) / Block;
  if (K::sums > 0 && blocks > reducing_blocks) blocks = reducing_blocks;
  const dim3 grid(blocks, a.rhs / K::tile);
  kernel<K, Block, MinBlocks><<<grid, Block, 0, static_cast<cudaStream_t>(launch.stream)>>>(a);
}

}  // namespace quarksmith::QUARKSMITH_TARGET
