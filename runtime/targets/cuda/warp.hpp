/// \file
/// What 32 threads do together.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

template <class T>
struct Warp {
  /// Steps whose numbers are on their way to shared memory.
  static constexpr int ahead = 3;

  /// Memory of the block, of kept_bytes for each of its threads.
  static QUARKSMITH_INLINE void* shared() { return launched_memory(); }
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

  /// Copies bytes into shared memory, for this thread alone; those before `close` count as one group. It may come
  /// before loads that the text has earlier, but for in_order().
  template <int Bytes>
  static QUARKSMITH_INLINE void copy(void* to, const void* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from), "n"(Bytes));
  }
  static QUARKSMITH_INLINE void close() { asm volatile("cp.async.commit_group;"); }
  /// All groups but the last `Last` have come.
  template <int Last>
  static QUARKSMITH_INLINE void await() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Last) : "memory");
  }

  /// Of two integers of 14 bits (runtime/kernels/coarse_tiles.hpp) h - 64 and l / 128, as pairs of bfloat16.
  static QUARKSMITH_INLINE void split(unsigned pair, unsigned& high, unsigned& low) {
    constexpr unsigned bits_of_128 = 0x43434343u;
    high = __byte_perm(pair, bits_of_128, 0x4341);  // 128 + h
    low = __byte_perm(pair, bits_of_128, 0x4240);
    asm("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(high) : "r"(0x3f803f80u), "r"(0xc340c340u));  // x - 192
    asm("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(low) : "r"(0x3c003c00u), "r"(0xbf80bf80u));   // x / 128 - 1
  }

  /// d += a b for matrices of bfloat16, 16 x 16 and 16 x 8, in the distribution over threads of the instruction
  /// mma.m16n8k16.
  static QUARKSMITH_INLINE void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }

  /// The transpose of a matrix of 8 x 8 numbers of 16 bits, of which thread 4 g + t has row g of columns 2 t and 2 t +
  /// 1.
  static QUARKSMITH_INLINE unsigned transpose(unsigned pair) {
    unsigned out;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(pair));
    return out;
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
