/// \file
/// What 32 threads do together.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

template <class T>
struct Warp {
  /// Memory of the block, of kept_bytes for each of its threads.
  static QUARKSMITH_INLINE void* shared() {
    extern __shared__ uint4 shared[];
    return shared;
  }
  /// What another thread has: thread number `thread` of the warp, or the one whose number differs in these bits.
  template <class V>
  static QUARKSMITH_INLINE V of(V v, int thread) {
    return __shfl_sync(~0u, v, thread);
  }
  template <class V>
  static QUARKSMITH_INLINE V across(V v, int bits) {
    return __shfl_xor_sync(~0u, v, bits);
  }
  /// All threads of the block come here before one goes on.
  static QUARKSMITH_INLINE void all_here() { __syncthreads(); }

  /// Copies bytes into shared memory, for this thread alone; those before `close` count as one group. It may come before
  /// loads that the text has earlier, but for in_order().
  template <int Bytes>
  static QUARKSMITH_INLINE void copy(void* to, const void* from) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "n"(Bytes));
#else
    using P = typename Packet<Bytes>::type;
    *static_cast<P*>(to) = *static_cast<const P*>(from);
#endif
  }
  static QUARKSMITH_INLINE void close() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
  }
  /// All groups but the last `Last` have come.
  template <int Last>
  static QUARKSMITH_INLINE void await() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(Last) : "memory");
#endif
  }

  /// Of two integers of 14 bits (runtime/kernels/coarse_tiles.hpp) h - 64 and l / 128, as pairs of bfloat16.
  static QUARKSMITH_INLINE void split(unsigned pair, unsigned& high, unsigned& low) {
    constexpr unsigned bits_of_128 = 0x43434343u;
    high = __byte_perm(pair, bits_of_128, 0x4341);  // 128 + h
    low = __byte_perm(pair, bits_of_128, 0x4240);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(high) : "r"(0x3f803f80u), "r"(0xc340c340u));  // x - 192
    asm("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(low) : "r"(0x3c003c00u), "r"(0xbf80bf80u));   // x / 128 - 1
#else
    const auto each = [](unsigned v, float a, float b) {
      return __float_as_uint(__uint_as_float(v << 16) * a + b) >> 16 |
             (__float_as_uint(__uint_as_float(v & 0xffff0000u) * a + b) & 0xffff0000u);
    };
    high = each(high, 1, -192);
    low = each(low, 1.0f / 128, -1);
#endif
  }

  /// d += a b for matrices of bfloat16, 16 x 16 and 16 x 8, in the distribution over threads of the instruction
  /// mma.m16n8k16. Units that lack it (before sm_80) are replaced by exchanges.
  static QUARKSMITH_INLINE void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    multiply_by_exchanges(d, a, b);
#endif
  }

  /// The transpose of a matrix of 8 x 8 numbers of 16 bits, of which thread 4 g + t has row g of columns 2 t and 2 t +
  /// 1.
  static QUARKSMITH_INLINE unsigned transpose(unsigned pair) {
    unsigned out;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(pair));
    return out;
  }

  static QUARKSMITH_INLINE void multiply_by_exchanges(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    const int thread = threadIdx.x % 32, row = thread / 4, column = thread % 4 * 2;
    for (int t = 0; t < 4; ++t)  // that has columns 2 t, 2 t + 1, 2 t + 8, 2 t + 9 of a, and such rows of b
      for (int half = 0; half < 2; ++half)
        for (int i = 0; i < 2; ++i) {
          const unsigned x = __shfl_sync(~0u, a[2 * half + i], 4 * row + t);
          for (int j = 0; j < 2; ++j) {
            const unsigned y = __shfl_sync(~0u, b[half], 4 * (column + j) + t);
            d[2 * i + j] += __uint_as_float(x << 16) * __uint_as_float(y << 16) +
                            __uint_as_float(x & 0xffff0000u) * __uint_as_float(y & 0xffff0000u);
          }
        }
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
