/// \file
/// Products of matrices of 16 bits and many right-hand sides where items are threads: 32 of them, a warp, read tiles of
/// 8 rows and 8 columns in the order in which matrix units take them.
///
/// Units multiply numbers of bfloat16. A number of a matrix is an integer of 14 bits, 128 (h - 64) + l with 0 <= h, l <
/// 128 in a byte each: the sum of two numbers of bfloat16, to which a byte turns by the bits of 128 before it. A number
/// of a vector is the sum of two of these to 16 bits; of the four products the least is left out. Thread 4 g + t has
/// row g of columns 2 t and 2 t + 1 of a tile, real part and imaginary part; tiles of the same columns follow each
/// other.
#pragma once

#include "runtime/kernels/coarse_panels.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Threads of a block, whose warps share the columns of some rows.
inline constexpr int tile_threads = warp_parts * warp_size;
/// Pairs of complex numbers of a Dirac spinor, and of one chirality of it.
inline constexpr int spinor_pairs = spinor_numbers / 2, chiral_pairs = chiral_numbers / 2;

/// What a thread has of a tile: pairs (re, im).
struct alignas(8) Tile {
  unsigned pair[2];
};
inline constexpr int most_tile = 8191, tile_unit = 128;
/// The bytes of an integer up to most_tile.
QUARKSMITH_INLINE unsigned tile_bytes(int n) {
  const unsigned u = unsigned(n + most_tile + 1);
  return (u >> 7) << 8 | (u & 127u);
}
/// The integer, in tile_units.
template <class T>
QUARKSMITH_INLINE T tile_number(unsigned bytes) {
  return T(int(bytes >> 8 & 127u) - tile_unit / 2) + T(int(bytes & 127u)) * (T(1) / T(tile_unit));
}
/// Steps of eight columns of a matrix.
QUARKSMITH_HOST_DEVICE constexpr int tile_steps(int columns) { return (columns + tile_size - 1) / tile_size; }
/// Where the numbers of a row and a column, an even one and the next, are in a matrix of so many rows.
QUARKSMITH_INLINE long long tile_place(int rows, int column, int row) {
  const long long tile = static_cast<long long>(column / tile_size) * (rows / tile_size) + row / tile_size;
  return tile * warp_size + row % tile_size * 4 + column % tile_size / 2;
}
/// Sets one of them to the nearest integers.
template <class T>
QUARKSMITH_INLINE void set_tile(Tile* tiles, int rows, int column, int row, const T& re, const T& im) {
  tiles[tile_place(rows, column, row)].pair[column % 2] = tile_bytes(nearest_of(re)) | tile_bytes(nearest_of(im)) << 16;
}

/// Two numbers of bfloat16 in a word, and what they lack of those that they stand for.
struct SplitPair {
  unsigned high, low;

  SplitPair() = default;
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
struct alignas(16) Two {
  T number[4];

  /// Numbers of a thread at once.
  static constexpr int chunk = 16 / sizeof(T);
  QUARKSMITH_INLINE void store(T* to) const { store_numbers(to, number); }
  /// Pair number `pair` of a spinor of a field, whose chunks are so far apart.
  QUARKSMITH_INLINE void load(const T* spinor, int apart, int pair) {
    QUARKSMITH_UNROLL
    for (int n = 0; n < 4; n += chunk) {
      const Chunk<T> c = *reinterpret_cast<const Chunk<T>*>(spinor + (4 * pair + n) / chunk * apart);
      QUARKSMITH_UNROLL
      for (int i = 0; i < chunk; ++i) number[n + i] = c.number[i];
    }
  }
  QUARKSMITH_INLINE void store(T* spinor, int apart, int pair) const {
    QUARKSMITH_UNROLL
    for (int n = 0; n < 4; n += chunk) {
      Chunk<T> c;
      QUARKSMITH_UNROLL
      for (int i = 0; i < chunk; ++i) c.number[i] = number[n + i];
      *reinterpret_cast<Chunk<T>*>(spinor + (4 * pair + n) / chunk * apart) = c;
    }
  }
  /// Lets those numbers come into shared memory.
  QUARKSMITH_INLINE void fetch(const T* from) {
    QUARKSMITH_UNROLL
    for (int n = 0; n < 4; n += chunk) Warp<T>::template copy<16>(number + n, from + n);
  }
  QUARKSMITH_INLINE void fetch(const T* spinor, int apart, int pair) {
    QUARKSMITH_UNROLL
    for (int n = 0; n < 4; n += chunk) Warp<T>::template copy<16>(number + n, spinor + (4 * pair + n) / chunk * apart);
  }
};

/// Words from a chunk of a spinor to the next, in fields that keep those of a thread's load together.
template <class T>
QUARKSMITH_INLINE int chunks_apart(const FieldPlaces& f) {
  return f.word[Two<T>::chunk];
}

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
  unsigned high[2], low[2];
  QUARKSMITH_UNROLL
  for (int i = 0; i < 2; ++i) Threads::split(tile.pair[i], high[i], low[i]);
  QUARKSMITH_UNROLL
  for (int m = 0; m < M; ++m) {
    Threads::multiply(sums[m], v[m].high, high);
    Threads::multiply(sums[m], v[m].low, high);
    Threads::multiply(sums[m], v[m].high, low);
  }
}

/// Sums over columns for up to warp_tiles tiles of rows and M times 8 right-hand sides, of one vector or the difference
/// of two. The warps of a block take a part of the columns each.
template <class T, int M, bool Conjugate, int Terms = 1>
struct TileSums {
  using Threads = Warp<T>;
  float sum[warp_tiles][M][4] = {};
  int part, thread, first;  ///< which warp; which of its threads; the first right-hand side

  QUARKSMITH_INLINE TileSums(int index, int first_rhs)
      : part(index / warp_size % warp_parts), thread(index % warp_size), first(first_rhs) {}

  /// Right-hand side of this thread in group m of 8, and which pair of eight columns, or rows, it has.
  QUARKSMITH_INLINE int rhs(int m) const { return first + tile_size * m + thread / 4; }
  QUARKSMITH_INLINE int pair() const { return thread % 4; }

  /// What is on its way for a step.
  struct Stage {
    Two<T> x[Terms][M][warp_size];
    Tile tile[warp_tiles][warp_size];
  };
  /// Bytes of shared memory for a thread: stages, or sums.
  static QUARKSMITH_HOST_DEVICE int kept_bytes() {
    const int stages = Threads::ahead * int(sizeof(Stage)) / warp_size, sums = M * warp_tiles * 4 * int(sizeof(float));
    return stages > sums ? stages : sums;
  }

  /// \param steps of eight columns in all. \param tiles of rows, up to warp_tiles.
  /// \param cursor for the steps from one on: cursor.tile() is the first tile of a step, cursor.fetch(x, term, m) lets
  /// the numbers of this thread come, or is false where they are 0; ++cursor goes to the next.
  /// \param sign of the second term, which is subtracted.
  template <class MakeCursor>
  QUARKSMITH_INLINE void add(int steps, int tiles, const MakeCursor& make_cursor, const T& sign = T(0)) {
    const int each = (steps + warp_parts - 1) / warp_parts, begin = part * each;
    const int count = steps - begin < each ? steps - begin : each;
    if (count <= 0) return;
    auto cursor = make_cursor(begin);
    Stage* const stages = static_cast<Stage*>(Threads::shared()) + part * Threads::ahead;
    int coming = 0, here = 0;
    const auto fetch = [&](bool more) {
      if (more) {
        Stage& stage = stages[coming];
        const Tile* const from = cursor.tile() + thread;
        QUARKSMITH_UNROLL
        for (int i = 0; i < warp_tiles; ++i)
          if (i < tiles) Threads::template copy<8>(&stage.tile[i][thread], from + i * warp_size);
        QUARKSMITH_UNROLL
        for (int term = 0; term < Terms; ++term) QUARKSMITH_UNROLL
        for (int m = 0; m < M; ++m)
          if (!cursor.fetch(stage.x[term][m][thread], term, m)) stage.x[term][m][thread] = Two<T>{};
        ++cursor;
        coming = coming + 1 == Threads::ahead ? 0 : coming + 1;
      }
      Threads::close();
    };
    QUARKSMITH_UNROLL
    for (int k = 0; k < Threads::ahead - 1; ++k) fetch(k < count);
    QUARKSMITH_ROLLED
    for (int k = 0; k < count; ++k) {
      in_order();  // what the stage held has been read
      fetch(k + Threads::ahead - 1 < count);
      Threads::template await<Threads::ahead - 1>();
      const Stage& stage = stages[here];
      here = here + 1 == Threads::ahead ? 0 : here + 1;
      TileVectors<Conjugate> v[M];
      QUARKSMITH_UNROLL
      for (int m = 0; m < M; ++m) {
        Two<T> x = stage.x[0][m][thread];
        if constexpr (Terms == 2) {
          const Two<T> other = stage.x[1][m][thread];
          QUARKSMITH_UNROLL
          for (int n = 0; n < 4; ++n) x.number[n] -= sign * other.number[n];
        }
        v[m] = TileVectors<Conjugate>(x);
      }
      QUARKSMITH_UNROLL
      for (int i = 0; i < warp_tiles; ++i)
        if (i < tiles) add_tile<Threads>(stage.tile[i][thread], v, sum[i]);
    }
  }

  /// Adds up what the warps have; each passes some tiles on: store(tile, rhs, numbers), with the numbers of this
  /// thread's pair of rows.
  template <class Store>
  QUARKSMITH_INLINE void finish(int tiles, int columns, const Store& store) const {
    struct alignas(16) Four {
      float number[4];
    };
    Four* const shared = static_cast<Four*>(Threads::shared());
    Threads::all_here();
    QUARKSMITH_UNROLL
    for (int i = 0; i < warp_tiles; ++i) QUARKSMITH_UNROLL
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

  /// Eight columns of the matrices of a site after the other.
  template <int M>
  struct Columns {
    const T* in;  ///< the numbers of right-hand side 0
    long long rhs_stride, slice_stride, tiles;
    const Tile* next;
    const int* other;
    int columns, first, pairs, apart, steps, step, from, thread_pair;

    QUARKSMITH_INLINE const Tile* tile() const { return next; }
    QUARKSMITH_INLINE bool fetch(Two<T>& x, int, int m) const {
      const int pair = 4 * step + thread_pair, rhs = first + tile_size * m;
      if (rhs >= columns || pair >= pairs) return false;
      const int slice = pair / spinor_pairs;
      x.fetch(in + rhs * rhs_stride + slice * slice_stride + from, apart, pair - slice * spinor_pairs);
      return true;
    }
    QUARKSMITH_INLINE void operator++() {
      next += tiles;
      if (++step < steps) return;
      step = 0;
      from = *++other;  // beyond the last point, too, for which the array has room
    }
  };

  template <int M>
  static QUARKSMITH_INLINE void product(const Arguments& a, int index, int first) {
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const FieldPlaces& f = s.places;
    const int rows = s.rows / tile_size, groups = (rows + warp_tiles - 1) / warp_tiles, block = index / tile_threads;
    const int site = groups == 1 ? block : block / groups, begin = (block - site * groups) * warp_tiles;
    const int tiles = rows - begin < warp_tiles ? rows - begin : warp_tiles, apart = chunks_apart<T>(f);
    const int steps = tile_steps(f.slices * spinor_numbers);
    TileSums<T, M, false> sums(index, first);
    sums.add(s.points * steps, tiles, [&](int k) {
      const int* const other = s.other_first + site * s.points + k / steps;
      const long long step = static_cast<long long>(rows) * warp_size;
      return Columns<M>{static_cast<const T*>(a.in.data),
                        a.in.rhs_stride,
                        a.in.rhs_stride / f.slices,
                        step,
                        tiles_of(s, site, 0) + begin * warp_size + k * step,
                        other,
                        a.columns,
                        sums.rhs(0),
                        f.slices * spinor_pairs,
                        apart,
                        steps,
                        k % steps,
                        *other,
                        sums.pair()};
    });
    sums.finish(tiles, a.columns, [&](int i, int rhs, Two<T> out) {
      const int pair = (begin + i) * 4 + sums.pair(), slice = pair / spinor_pairs;
      if (slice >= f.slices) return;
      const float* const scale = s.scale + static_cast<long long>(site) * s.rows + 2 * pair;
      QUARKSMITH_UNROLL
      for (int n = 0; n < 4; ++n) out.number[n] *= scalar<T>(a.b.re) * T(scale[n / 2]);
      if (a.x.data != nullptr) {
        Two<T> x;
        x.load(slice_of<const T>(a.x, f, s.first[site], rhs, slice), apart, pair % spinor_pairs);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 4; ++n) out.number[n] += scalar<T>(a.a.re) * x.number[n];
      }
      out.store(slice_of<T>(a.out, f, s.first[site], rhs, slice), apart, pair % spinor_pairs);
    });
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
