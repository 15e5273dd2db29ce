/// \file
/// Products of coarse matrices of 16 bits and many right-hand sides where items are threads: 32 of them, a warp, read
/// tiles of 8 rows and 8 columns in the order in which matrix units take them.
///
/// Units multiply numbers of bfloat16. A 16-bit integer is the sum of two of these exactly, a number of a vector to 16
/// bits; of the four products the least is left out. [site][point][eight columns][eight rows][thread][4]: thread 4 g +
/// t has row g of columns 2 t and 2 t + 1, real part and imaginary part.
#pragma once

#include "runtime/kernels/coarse_panels.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

inline constexpr int warp_size = 32, tile_size = 8;
/// Complex numbers that a thread has of eight.
inline constexpr int thread_columns = 2;

/// Where the pair of shorts of a row and a column is in the tiles of a site.
QUARKSMITH_INLINE long long tile_place(const Stencil& s, int point, int column, int row) {
  const int columns = s.places.slices * spinor_numbers, steps = (columns + tile_size - 1) / tile_size;
  const long long tile = (static_cast<long long>(point) * steps + column / tile_size) * (s.rows / tile_size) +
                         row / tile_size;
  const int thread = row % tile_size * 4 + column % tile_size / thread_columns;
  return ((tile * warp_size + thread) * thread_columns + column % thread_columns) * 2;
}
QUARKSMITH_INLINE long long tile_numbers(const Stencil& s) {
  const int steps = (s.places.slices * spinor_numbers + tile_size - 1) / tile_size;
  return 2LL * s.points * steps * tile_size * s.rows;
}

/// Two numbers of bfloat16 in a word, and what they lack of those that they stand for.
struct SplitPair {
  unsigned high, low;

  QUARKSMITH_INLINE SplitPair() = default;
  QUARKSMITH_INLINE SplitPair(float a, float b) {
    constexpr unsigned upper = 0xffff0000u, half = 0x8000u;
    const unsigned near_a = bits_of_float<1>(a) + half, near_b = bits_of_float<1>(b) + half;
    high = near_a >> 16 | (near_b & upper);
    const float rest_a = a - float_of_bits<1>(near_a & upper), rest_b = b - float_of_bits<1>(near_b & upper);
    low = bits_of_float<1>(rest_a) >> 16 | (bits_of_float<1>(rest_b) & upper);
  }
};
/// (re, -im) to (im, re).
QUARKSMITH_INLINE unsigned times_i(unsigned pair) { return (pair >> 16 ^ 0x8000u) | pair << 16; }

/// out = a x + b sum_points C in: a warp takes warp_tiles tiles of the rows of a site, and every warp_parts-th eight
/// columns of these.
template <class Codec>
struct TileProduct {
  using T = typename Codec::Element;
  using Threads = Warp<T>;
  static constexpr int threads = warp_parts * warp_size;

  /// Numbers 2 t and 2 t + 1 of eight of a coarse vector.
  struct Two {
    T number[4];
    QUARKSMITH_INLINE void load(const T* spinor, const FieldPlaces& f, int pair) {
      constexpr int chunk = 16 / sizeof(T);
      QUARKSMITH_UNROLL
      for (int n = 0; n < 4; n += chunk) {
        const Chunk<T> c = *reinterpret_cast<const Chunk<T>*>(spinor + f.word[4 * pair + n]);
        QUARKSMITH_UNROLL
        for (int i = 0; i < chunk; ++i) number[n + i] = c.number[i];
      }
    }
    QUARKSMITH_INLINE void store(T* spinor, const FieldPlaces& f, int pair) const {
      constexpr int chunk = 16 / sizeof(T);
      QUARKSMITH_UNROLL
      for (int n = 0; n < 4; n += chunk) {
        Chunk<T> c;
        QUARKSMITH_UNROLL
        for (int i = 0; i < chunk; ++i) c.number[i] = number[n + i];
        *reinterpret_cast<Chunk<T>*>(spinor + f.word[4 * pair + n]) = c;
      }
    }
  };
  /// Such numbers of 8 right-hand sides, one a group of four threads, as 16 rows of a matrix: real parts of the
  /// products of these with pairs (re, im) of C, then imaginary parts.
  struct Vectors {
    unsigned high[4], low[4];
    QUARKSMITH_INLINE explicit Vectors(const Two& x) {
      QUARKSMITH_UNROLL
      for (int i = 0; i < 2; ++i) {
        const SplitPair p(float(x.number[2 * i]), -float(x.number[2 * i + 1]));
        high[2 * i] = p.high;
        high[2 * i + 1] = times_i(p.high);
        low[2 * i] = p.low;
        low[2 * i + 1] = times_i(p.low);
      }
    }
  };
  /// What a thread has of a tile.
  struct alignas(8) Tile {
    short number[4];
  };

  static constexpr int pairs = spinor_numbers / 2;  ///< of a slice

  template <int M>
  static QUARKSMITH_INLINE void columns(const Arguments& a, int index, int first) {
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const FieldPlaces& f = s.places;
    const int thread = index % warp_size, g = thread / 4, t = thread % 4, part = index / warp_size % warp_parts;
    const int tiles = s.rows / tile_size, groups = (tiles + warp_tiles - 1) / warp_tiles;
    const int together = index / threads, site = together / groups, begin = together % groups * warp_tiles;
    const int here = tiles - begin < warp_tiles ? tiles - begin : warp_tiles;
    const int steps = (f.slices * pairs + 3) / 4;
    const Tile* const matrix =
        reinterpret_cast<const Tile*>(s.packed + site * tile_numbers(s)) + begin * warp_size + thread;
    float sums[M][warp_tiles][4] = {};
    QUARKSMITH_ROLLED
    for (int k = part; k < s.points * steps; k += warp_parts) {
      Tile tile[warp_tiles];
      QUARKSMITH_UNROLL
      for (int i = 0; i < warp_tiles; ++i)
        if (i < here) tile[i] = matrix[(static_cast<long long>(k) * tiles + i) * warp_size];
      const int pair = 4 * (k % steps) + t, from = s.other_first[site * s.points + k / steps];
      Two x[M] = {};
      QUARKSMITH_UNROLL
      for (int m = 0; m < M; ++m)
        if (const int rhs = first + tile_size * m + g; rhs < a.columns && pair < f.slices * pairs)
          x[m].load(slice_of<const T>(a.in, f, from, rhs, pair / pairs), f, pair % pairs);
      QUARKSMITH_UNROLL
      for (int m = 0; m < M; ++m) {
        const Vectors v(x[m]);
        QUARKSMITH_UNROLL
        for (int i = 0; i < warp_tiles; ++i) {
          if (i >= here) continue;
          const SplitPair c0(tile[i].number[0], tile[i].number[1]), c1(tile[i].number[2], tile[i].number[3]);
          const unsigned high[2] = {c0.high, c1.high}, low[2] = {c0.low, c1.low};
          Threads::multiply(sums[m][i], v.high, high);
          Threads::multiply(sums[m][i], v.low, high);
          Threads::multiply(sums[m][i], v.high, low);
        }
      }
    }
    finish<M>(a, s, sums, {site, begin, here, first, part, thread});
  }

  struct Place {
    int site, begin, tiles, first, part, thread;
  };
  /// Adds up what the warps of a site have; each stores some of the tiles.
  template <int M>
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Stencil& s, const float (&sums)[M][warp_tiles][4],
                                       const Place& at) {
    struct alignas(16) Four {
      float number[4];
    };
    Four* const shared = static_cast<Four*>(Threads::shared());
    QUARKSMITH_UNROLL
    for (int m = 0; m < M; ++m)
      QUARKSMITH_UNROLL
      for (int i = 0; i < warp_tiles; ++i) {
        Four four;
        QUARKSMITH_UNROLL
        for (int n = 0; n < 4; ++n) four.number[n] = sums[m][i][n];
        shared[((at.part * M + m) * warp_tiles + i) * warp_size + at.thread] = four;
      }
    Threads::all_here();
    QUARKSMITH_ROLLED
    for (int q = at.part; q < M * warp_tiles; q += warp_parts) {
      const int rhs = at.first + q / warp_tiles * tile_size + at.thread / 4, i = q % warp_tiles;
      const int pair = (at.begin + i) * 4 + at.thread % 4, slice = pair / pairs;
      if (i >= at.tiles || rhs >= a.columns || slice >= s.places.slices) continue;
      T sum[4] = {};
      for (int p = 0; p < warp_parts; ++p) {
        const Four four = shared[(p * M * warp_tiles + q) * warp_size + at.thread];
        QUARKSMITH_UNROLL
        for (int n = 0; n < 4; ++n) sum[n] += T(four.number[n]);
      }
      const float* const scale = s.scale + static_cast<long long>(at.site) * s.rows + 2 * pair;
      const T factor = scalar<T>(a.b.re), by[2] = {factor * T(scale[0]), factor * T(scale[1])};
      // Rows of the sums are real parts of two numbers, then imaginary parts.
      Two out{{by[0] * sum[0], by[0] * sum[2], by[1] * sum[1], by[1] * sum[3]}};
      if (a.x.data != nullptr) {
        Two x;
        x.load(slice_of<const T>(a.x, s.places, s.first[at.site], rhs, slice), s.places, pair % pairs);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 4; ++n) out.number[n] += scalar<T>(a.a.re) * x.number[n];
      }
      out.store(slice_of<T>(a.out, s.places, s.first[at.site], rhs, slice), s.places, pair % pairs);
    }
  }

  static QUARKSMITH_INLINE void product(const Arguments& a, int index, int group) {
    const int first = group * warp_columns;
    if (a.columns - first > tile_size)
      columns<2>(a, index, first);
    else
      columns<1>(a, index, first);
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
