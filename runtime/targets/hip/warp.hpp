/// \file
/// What 32 threads do together, without matrix cores: they exchange what each has.
#pragma once

namespace quarksmith::QUARKSMITH_TARGET {

template <class T>
struct Warp {
  /// Steps whose numbers are on their way to shared memory.
  static constexpr int ahead = 2;

  /// Memory of the block, of kept_bytes for each of its threads.
  static QUARKSMITH_INLINE void* shared() { return launched_memory(); }
  /// What another thread has: thread number `thread` of the 32, or the one whose number differs in these bits.
  template <class V>
  static QUARKSMITH_INLINE V of(V v, int thread) {
    return __shfl(v, thread, 32);
  }
  template <class V>
  static QUARKSMITH_INLINE V across(V v, int bits) {
    return __shfl_xor(v, bits, 32);
  }
  /// All threads of the block come here before one goes on.
  static QUARKSMITH_INLINE void all_here() { __syncthreads(); }
  /// Copies bytes into shared memory, for this thread alone.
  template <int Bytes>
  static QUARKSMITH_INLINE void copy(void* to, const void* from) {
    copy_to_shared<Bytes>(to, from);
  }
  static QUARKSMITH_INLINE void close() {}
  template <int>
  static QUARKSMITH_INLINE void await() {
    in_order();
  }

  /// Of two integers of 14 bits (runtime/kernels/coarse_tiles.hpp) h - 64 and l / 128, as pairs of bfloat16.
  static QUARKSMITH_INLINE void split(unsigned pair, unsigned& high, unsigned& low) {
    const auto bits = [](float re, float im) {  // exact: eight bits are enough
      return bits_of_float<1>(re) >> 16 | (bits_of_float<1>(im) & 0xffff0000u);
    };
    const auto byte = [pair](int n) { return float(pair >> 8 * n & 127u); };
    high = bits(byte(1) - 64, byte(3) - 64);
    low = bits(byte(0) / 128, byte(2) / 128);
  }

  /// d += a b for matrices of bfloat16, 16 x 16 and 16 x 8. Of these thread 4 g + t has d(g, 2 t), d(g, 2 t + 1), the
  /// same of row g + 8; a(g, 2 t) and the next, of row g + 8, the same of columns 8 further; b(2 t, g) and the next,
  /// and rows 8 further.
  static QUARKSMITH_INLINE void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    const int thread = threadIdx.x % 32, row = thread / 4, column = thread % 4 * 2;
    for (int t = 0; t < 4; ++t)
      for (int half = 0; half < 2; ++half)
        for (int i = 0; i < 2; ++i) {
          const unsigned x = of(a[2 * half + i], 4 * row + t);
          for (int j = 0; j < 2; ++j) {
            const unsigned y = of(b[half], 4 * (column + j) + t);
            d[2 * i + j] += float_of_bits<1>(x << 16) * float_of_bits<1>(y << 16) +
                            float_of_bits<1>(x & 0xffff0000u) * float_of_bits<1>(y & 0xffff0000u);
          }
        }
  }

  /// The transpose of a matrix of 8 x 8 numbers of 16 bits, of which thread 4 g + t has row g of columns 2 t and 2 t +
  /// 1.
  static QUARKSMITH_INLINE unsigned transpose(unsigned pair) {
    const int thread = threadIdx.x % 32, column = thread / 4, row = thread % 4 * 2, shift = 16 * (column % 2);
    const unsigned first = of(pair, 4 * row + column / 2), second = of(pair, 4 * (row + 1) + column / 2);
    return (first >> shift & 0xffffu) | (second >> shift & 0xffffu) << 16;
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
