/// \file
/// Products of matrices of 16 bits and many right-hand sides where items are threads: 32 of them, a warp, read tiles of
/// 8 rows and 8 columns in the order in which matrix units take them.
///
/// Units multiply numbers of bfloat16. A 16-bit integer is the sum of two of these exactly, a number of a vector to 16
/// bits; of the four products the least is left out. Thread 4 g + t has row g of columns 2 t and 2 t + 1 of a tile,
/// real part and imaginary part; tiles of the same columns follow each other.
#pragma once

#include "runtime/kernels/coarse_panels.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

inline constexpr int warp_size = 32, tile_size = 8;
/// Threads of a block, whose warps share the columns of some rows.
inline constexpr int tile_threads = warp_parts * warp_size;
/// Steps whose tiles are on their way.
inline constexpr int tiles_ahead = 3;
/// Pairs of complex numbers of a Dirac spinor, and of one chirality of it.
inline constexpr int spinor_pairs = spinor_numbers / 2, chiral_pairs = chiral_numbers / 2;

/// What a thread has of a tile.
struct alignas(8) Tile {
  short number[4];
};
/// Steps of eight columns of a matrix.
QUARKSMITH_HOST_DEVICE constexpr int tile_steps(int columns) { return (columns + tile_size - 1) / tile_size; }
/// Where the numbers of a row and a column, an even one and the next, are in a matrix of so many rows.
QUARKSMITH_INLINE long long tile_place(int rows, int column, int row) {
  const long long tile = static_cast<long long>(column / tile_size) * (rows / tile_size) + row / tile_size;
  return tile * warp_size + row % tile_size * 4 + column % tile_size / 2;
}
/// Sets one of them. \param factor what integers are times their factor.
template <class T>
QUARKSMITH_INLINE void set_tile(Tile* tiles, int rows, int column, int row, const T& re, const T& im) {
  short* const pair = tiles[tile_place(rows, column, row)].number + column % 2 * 2;
  pair[0] = short(nearest_of(re));
  pair[1] = short(nearest_of(im));
}

/// Two numbers of bfloat16 in a word, and what they lack of those that they stand for.
struct SplitPair {
  unsigned high, low;

  QUARKSMITH_INLINE SplitPair(float a, float b) {
    constexpr unsigned upper = 0xffff0000u, half = 0x8000u;
    const unsigned near_a = bits_of_float<1>(a) + half, near_b = bits_of_float<1>(b) + half;
    high = near_a >> 16 | (near_b & upper);
    const float rest_a = a - float_of_bits<1>(near_a & upper), rest_b = b - float_of_bits<1>(near_b & upper);
    low = bits_of_float<1>(rest_a) >> 16 | (bits_of_float<1>(rest_b) & upper);
  }
};
QUARKSMITH_INLINE unsigned swapped(unsigned pair) { return pair >> 16 | pair << 16; }

/// Two complex numbers that follow each other: numbers 2 t and 2 t + 1 of eight of a vector.
template <class T>
struct Two {
  T number[4];

  QUARKSMITH_INLINE void load(const T* from) {
    T numbers[4];
    load_numbers(from, numbers);
    for (int n = 0; n < 4; ++n) number[n] = numbers[n];
  }
  QUARKSMITH_INLINE void store(T* to) const {
    T numbers[4];
    for (int n = 0; n < 4; ++n) numbers[n] = number[n];
    store_numbers(to, numbers);
  }
  /// Pair number `pair` of a spinor of a field.
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

/// Such numbers of 8 right-hand sides, one a group of four threads, as 16 rows of a matrix: real parts of the products
/// of these with pairs (re, im) of tiles, then imaginary parts; or with the conjugates of tiles.
template <bool Conjugate>
struct TileVectors {
  unsigned high[4], low[4];

  TileVectors() = default;
  template <class T>
  QUARKSMITH_INLINE explicit TileVectors(const Two<T>& x) {
    constexpr unsigned sign = 0x8000u;
    QUARKSMITH_UNROLL
    for (int i = 0; i < 2; ++i) {
      const SplitPair p(float(x.number[2 * i]), float(x.number[2 * i + 1]));
      high[2 * i] = Conjugate ? p.high : p.high ^ sign << 16;
      high[2 * i + 1] = Conjugate ? swapped(p.high) ^ sign << 16 : swapped(p.high);
      low[2 * i] = Conjugate ? p.low : p.low ^ sign << 16;
      low[2 * i + 1] = Conjugate ? swapped(p.low) ^ sign << 16 : swapped(p.low);
    }
  }
};

/// sums += the products of a tile and the vectors.
template <class Threads, int M, bool Conjugate>
QUARKSMITH_INLINE void add_tile(const Tile& tile, const TileVectors<Conjugate> (&v)[M], float (&sums)[M][4]) {
  const SplitPair c0(tile.number[0], tile.number[1]), c1(tile.number[2], tile.number[3]);
  const unsigned high[2] = {c0.high, c1.high}, low[2] = {c0.low, c1.low};
  QUARKSMITH_UNROLL
  for (int m = 0; m < M; ++m) {
    Threads::multiply(sums[m], v[m].high, high);
    Threads::multiply(sums[m], v[m].low, high);
    Threads::multiply(sums[m], v[m].high, low);
  }
}

/// Sums over columns for up to warp_tiles tiles of rows and M times 8 right-hand sides. The warps of a block take a part
/// of the columns each.
template <class T, int M, bool Conjugate>
struct TileSums {
  using Threads = Warp<T>;
  float sum[warp_tiles][M][4] = {};
  int part, thread, first;  ///< which warp; which of its threads; the first right-hand side

  QUARKSMITH_INLINE TileSums(int index, int first_rhs)
      : part(index / warp_size % warp_parts), thread(index % warp_size), first(first_rhs) {}

  /// Right-hand side of this thread in group m of 8, and which pair of eight columns, or rows, it has.
  QUARKSMITH_INLINE int rhs(int m) const { return first + tile_size * m + thread / 4; }
  QUARKSMITH_INLINE int pair() const { return thread % 4; }

  /// Bytes of shared memory for a thread: tiles on their way, or sums.
  static QUARKSMITH_HOST_DEVICE int kept_bytes() {
    const int fetched = tiles_ahead * warp_tiles * int(sizeof(Tile)), sums = M * warp_tiles * 4 * int(sizeof(float));
    return fetched > sums ? fetched : sums;
  }

  /// \param steps of eight columns in all. \param tiles of rows, up to warp_tiles.
  /// \param tile_of(step) the first tile of a step; \param load(step, x) sets the numbers of this thread.
  template <class TileOf, class Load>
  QUARKSMITH_INLINE void add(int steps, int tiles, const TileOf& tile_of, const Load& load) {
    const int each = (steps + warp_parts - 1) / warp_parts, begin = part * each;
    const int count = steps - begin < each ? steps - begin : each;
    Tile* const buffer = static_cast<Tile*>(Threads::shared()) + part * tiles_ahead * warp_tiles * warp_size + thread;
    const auto fetch = [&](int k) {
      if (k < count) {
        const Tile* const from = tile_of(begin + k) + thread;
        QUARKSMITH_UNROLL
        for (int i = 0; i < warp_tiles; ++i)
          if (i < tiles) Threads::copy(buffer + (k % tiles_ahead * warp_tiles + i) * warp_size, from + i * warp_size);
      }
      Threads::close();
    };
    QUARKSMITH_UNROLL
    for (int k = 0; k < tiles_ahead - 1; ++k) fetch(k);
    Two<T> x[M], next[M] = {};
    if (count > 0) load(begin, next);
    QUARKSMITH_ROLLED
    for (int k = 0; k < count; ++k) {
      fetch(k + tiles_ahead - 1);
      TileVectors<Conjugate> v[M];
      QUARKSMITH_UNROLL
      for (int m = 0; m < M; ++m) x[m] = next[m];
      if (k + 1 < count) load(begin + k + 1, next);
      QUARKSMITH_UNROLL
      for (int m = 0; m < M; ++m) v[m] = TileVectors<Conjugate>(x[m]);
      Threads::template await<tiles_ahead - 1>();
      const Tile* const here = buffer + k % tiles_ahead * warp_tiles * warp_size;
      QUARKSMITH_UNROLL
      for (int i = 0; i < warp_tiles; ++i)
        if (i < tiles) add_tile<Threads>(here[i * warp_size], v, sum[i]);
    }
  }

  /// Adds up what the warps have; each passes some tiles on: store(tile, rhs, numbers), with the numbers of this thread's
  /// pair of rows.
  template <class Store>
  QUARKSMITH_INLINE void finish(int tiles, int columns, const Store& store) const {
    struct alignas(16) Four {
      float number[4];
    };
    Four* const shared = static_cast<Four*>(Threads::shared());
    Threads::all_here();
    QUARKSMITH_UNROLL
    for (int i = 0; i < warp_tiles; ++i)
      QUARKSMITH_UNROLL
      for (int m = 0; m < M; ++m)
        shared[((part * warp_tiles + i) * M + m) * warp_size + thread] = {sum[i][m][0], sum[i][m][1], sum[i][m][2],
                                                                          sum[i][m][3]};
    Threads::all_here();
    QUARKSMITH_ROLLED
    for (int q = part; q < warp_tiles * M; q += warp_parts) {
      const int i = q / M, right = rhs(q % M);
      if (i >= tiles || right >= columns) continue;
      T total[4] = {};
      for (int p = 0; p < warp_parts; ++p) {
        const Four four = shared[(p * warp_tiles * M + q) * warp_size + thread];
        QUARKSMITH_UNROLL
        for (int n = 0; n < 4; ++n) total[n] += T(four.number[n]);
      }
      // Rows of the sums are real parts of two numbers, then imaginary parts.
      store(i, right, Two<T>{{total[0], total[2], total[1], total[3]}});
    }
  }
};

/// A body that works on tiles: Body::product<M>(a, index, first), for the right-hand sides that follow the first one.
template <class Codec, class Body>
struct TileBody : PanelBody<Codec> {
  static constexpr int threads = tile_threads;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int group, Lanes<double, W>*) {
    const int first = group * warp_columns;
    if (a.columns - first > tile_size)
      Body::template product<2>(a, index, first);
    else
      Body::template product<1>(a, index, first);
  }
};

/// out = a x + b sum_points C in: a block of threads takes warp_tiles tiles of the rows of a site.
template <class Codec>
struct CoarseTiles : TileBody<Codec, CoarseTiles<Codec>> {
  using T = typename Codec::Element;

  /// Tiles of the matrices of a site: those of each point.
  static QUARKSMITH_INLINE Tile* tiles_of(const Stencil& s, int site, int point) {
    const long long each = static_cast<long long>(tile_steps(s.places.slices * spinor_numbers)) * s.rows / tile_size;
    return reinterpret_cast<Tile*>(s.packed) + (site * s.points + point) * each * warp_size;
  }
  static QUARKSMITH_HOST_DEVICE int kept_bytes(const Arguments& a) {
    return a.columns > tile_size ? TileSums<T, 2, false>::kept_bytes() : TileSums<T, 1, false>::kept_bytes();
  }

  template <int M>
  static QUARKSMITH_INLINE void product(const Arguments& a, int index, int first) {
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const FieldPlaces& f = s.places;
    const int rows = s.rows / tile_size, groups = (rows + warp_tiles - 1) / warp_tiles, block = index / tile_threads;
    const int site = block / groups, begin = block % groups * warp_tiles, steps = tile_steps(f.slices * spinor_numbers);
    const int tiles = rows - begin < warp_tiles ? rows - begin : warp_tiles;
    TileSums<T, M, false> sums(index, first);
    const Tile* const all = tiles_of(s, site, 0) + begin * warp_size;
    sums.add(
        s.points * steps, tiles, [&](int k) { return all + static_cast<long long>(k) * rows * warp_size; },
        [&](int k, Two<T>(&x)[M]) {
          const int pair = 4 * (k % steps) + sums.pair(), from = s.other_first[site * s.points + k / steps];
          QUARKSMITH_UNROLL
          for (int m = 0; m < M; ++m) {
            x[m] = Two<T>{};
            if (const int rhs = sums.rhs(m); rhs < a.columns && pair < f.slices * spinor_pairs)
              x[m].load(slice_of<const T>(a.in, f, from, rhs, pair / spinor_pairs), f, pair % spinor_pairs);
          }
        });
    sums.finish(tiles, a.columns, [&](int i, int rhs, Two<T> out) {
      const int pair = (begin + i) * 4 + sums.pair(), slice = pair / spinor_pairs;
      if (slice >= f.slices) return;
      const float* const scale = s.scale + static_cast<long long>(site) * s.rows + 2 * pair;
      QUARKSMITH_UNROLL
      for (int n = 0; n < 4; ++n) out.number[n] *= scalar<T>(a.b.re) * T(scale[n / 2]);
      if (a.x.data != nullptr) {
        Two<T> x;
        x.load(slice_of<const T>(a.x, f, s.first[site], rhs, slice), f, pair % spinor_pairs);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 4; ++n) out.number[n] += scalar<T>(a.a.re) * x.number[n];
      }
      out.store(slice_of<T>(a.out, f, s.first[site], rhs, slice), f, pair % spinor_pairs);
    });
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
