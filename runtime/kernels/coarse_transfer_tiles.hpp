/// \file
/// Restriction and prolongation with near-null vectors of 16 bits where items are threads: rows of tiles are vectors,
/// columns the numbers of a chirality of a block, [site][slice][chiral number].
#pragma once

#include "runtime/kernels/coarse_tiles.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Near-null vectors of a chirality of a block: what a thread keeps of the record.
struct VectorTiles {
  int block, chirality, block_sites, sites, slices, tiles, face;
  long long step;  ///< threads of a step
  Tile* first;
  const float* scale;
  const unsigned* faces;

  QUARKSMITH_INLINE VectorTiles(const BlockVectors& b, int block_, int chirality_)
      : block(block_),
        chirality(chirality_),
        block_sites(b.block_sites),
        sites(b.faces != nullptr ? b.block_sites : b.sites),
        slices(b.slices),
        tiles(b.rows / tile_size),
        face(b.face),
        step(tiles * warp_size),
        first(reinterpret_cast<Tile*>(b.packed) + (2LL * block_ + chirality_) * steps_of(block_sites) * step),
        scale(b.scale + (2 * block_ + chirality_) * b.rows),
        faces(b.faces) {}

  QUARKSMITH_INLINE int steps_of(int some) const { return tile_steps(some * slices * chiral_numbers); }
  /// Of the sites that count.
  QUARKSMITH_INLINE int steps() const { return steps_of(sites); }
  /// Tiles of a step.
  QUARKSMITH_INLINE Tile* of(int n) const { return first + n * step; }
  QUARKSMITH_INLINE int inside_of(int place) const { return slices == 1 ? place : place / slices; }
  /// A pair of columns in a field in the order of blocks.
  template <class T>
  QUARKSMITH_INLINE T* pair(const Operand& f, int rhs, int pair) const {
    const int place = pair / chiral_pairs, inside = inside_of(place), slice = place - inside * slices;
    return static_cast<T*>(f.data) + rhs * f.rhs_stride + (slice > 0 ? slice * (f.rhs_stride / slices) : 0) +
           ((static_cast<long long>(block) * block_sites + inside) * spinor_numbers + chirality * chiral_numbers) * 2 +
           (pair - place * chiral_pairs) * 4;
  }
  /// Whether the site of a pair of columns counts.
  QUARKSMITH_INLINE bool counts(int pair) const {
    const int inside = inside_of(pair / chiral_pairs);
    return inside < sites && (faces == nullptr || (faces[inside] >> face & 1));
  }
};

/// out = P^+ in, or P^+ (in - x) with the sign of the block in front of x.
template <class Codec>
struct RestrictTiles : TileBody<Codec, RestrictTiles<Codec>> {
  using T = typename Codec::Element;

  static QUARKSMITH_HOST_DEVICE int kept_bytes(const Arguments& a) {
    if (a.x.data != nullptr) return bytes_of<2>(a);
    return bytes_of<1>(a);
  }
  template <int Terms>
  static QUARKSMITH_HOST_DEVICE int bytes_of(const Arguments& a) {
    using One = TileSums<T, 1, true, Terms>;
    using Both = TileSums<T, 2, true, Terms>;
    return a.columns > tile_size ? Both::kept_bytes() : One::kept_bytes();
  }

  /// Eight columns of a block after the other.
  struct Columns {
    const Arguments& a;
    const VectorTiles& v;
    const int* list;  ///< null: all steps
    int k, first, thread_pair, step;

    QUARKSMITH_INLINE const Tile* tile() const { return v.of(step); }
    QUARKSMITH_INLINE bool fetch(Two<T>& x, int term, int m) const {
      const int pair = 4 * step + thread_pair, rhs = first + tile_size * m;
      if (rhs >= a.columns || !v.counts(pair)) return false;
      x.fetch(v.template pair<const T>(term == 0 ? a.in : a.x, rhs, pair));
      return true;
    }
    QUARKSMITH_INLINE void operator++() {
      ++k;
      step = list != nullptr ? list[k] : k;  // beyond the last, too, for which the list has room
    }
  };

  template <int M>
  static QUARKSMITH_INLINE void product(const Arguments& a, int index, int first) {
    a.x.data != nullptr ? restrict<M, 2>(a, index, first) : restrict<M, 1>(a, index, first);
  }

  template <int M, int Terms>
  static QUARKSMITH_INLINE void restrict(const Arguments& a, int index, int first) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const VectorTiles v(b, index / tile_threads / 2, index / tile_threads % 2);
    const bool some = b.faces != nullptr;
    TileSums<T, M, true, Terms> sums(index, first);
    sums.add(
        some ? b.sites : v.steps(), v.tiles,
        [&](int k) {
          return Columns{a, v, some ? b.site : nullptr, k, sums.rhs(0), sums.pair(), some ? b.site[k] : k};
        },
        sign_of<T>(b.odd[v.block], a.skip));
    sums.finish(v.tiles, a.columns, [&](int i, int rhs, Two<T> out) {
      const int pair = 4 * i + sums.pair(), slice = pair / chiral_pairs;
      if (slice >= b.coarse.slices) return;
      QUARKSMITH_UNROLL
      for (int n = 0; n < 4; ++n) out.number[n] *= T(v.scale[2 * pair + n / 2]);
      out.store(slice_of<T>(a.out, b.coarse, b.coarse_first[v.block], rhs, slice), chunks_apart<T>(b.coarse),
                v.chirality * chiral_pairs + pair % chiral_pairs);
    });
  }
};

/// out = P in: tiles are transposed on their way, and the warps of a block take a part of the columns each.
template <class Codec>
struct ProlongTiles : TileBody<Codec, ProlongTiles<Codec>> {
  using T = typename Codec::Element;
  using Threads = Warp<T>;
  using Vectors = TileVectors<false>;
  static constexpr int most_tiles = most_vectors / tile_size;

  static QUARKSMITH_HOST_DEVICE int kept_bytes(const Arguments& a) {
    return (a.columns > tile_size ? 2 : 1) * most_tiles * int(sizeof(Vectors)) / warp_parts;
  }

  /// Numbers of the coarse vectors with the factors of rows, for all warps of the block: [tile][group of right-hand
  /// sides][thread].
  template <int M>
  static QUARKSMITH_INLINE void share(const Arguments& a, const BlockVectors& b, const VectorTiles& v,
                                      const TileSums<T, M, false>& at, Vectors* shared) {
    const FieldPlaces& f = b.coarse;
    for (int i = at.part; i < v.tiles; i += warp_parts) {
      const int pair = 4 * i + at.pair(), slice = pair / chiral_pairs;
      QUARKSMITH_UNROLL
      for (int m = 0; m < M; ++m) {
        Two<T> x{};
        if (slice < f.slices && at.rhs(m) < a.columns) {
          x.load(slice_of<const T>(a.in, f, b.coarse_first[v.block], at.rhs(m), slice), chunks_apart<T>(f),
                 v.chirality * chiral_pairs + pair % chiral_pairs);
          QUARKSMITH_UNROLL
          for (int n = 0; n < 4; ++n) x.number[n] *= T(v.scale[2 * pair + n / 2]);
        }
        shared[(i * M + m) * warp_size + at.thread] = Vectors(x);
      }
    }
    Threads::all_here();
  }

  /// Rows of a tile become columns.
  static QUARKSMITH_INLINE Tile transposed(const Tile& tile) {
    constexpr unsigned lower = 0xffffu, upper = 0xffff0000u;
    const unsigned re = Threads::transpose((tile.pair[0] & lower) | tile.pair[1] << 16),
                   im = Threads::transpose(tile.pair[0] >> 16 | (tile.pair[1] & upper));
    return {{(re & lower) | im << 16, re >> 16 | (im & upper)}};
  }

  template <int M>
  static QUARKSMITH_INLINE void product(const Arguments& a, int index, int first) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const VectorTiles v(b, index / tile_threads / 2, index / tile_threads % 2);
    const TileSums<T, M, false> at(index, first);  // for its numbering
    Vectors* const shared = static_cast<Vectors*>(Threads::shared());
    share<M>(a, b, v, at, shared);
    const int steps = v.steps(), tiles = v.tiles;
    Tile tile[most_tiles], next[most_tiles];
    const auto load = [&](int step) {
      QUARKSMITH_UNROLL
      for (int i = 0; i < most_tiles; ++i)
        if (i < tiles && step < steps) next[i] = v.of(step)[i * warp_size + at.thread];
    };
    load(at.part);
    QUARKSMITH_ROLLED
    for (int step = at.part; step < steps; step += warp_parts) {
      QUARKSMITH_UNROLL
      for (int i = 0; i < most_tiles; ++i) tile[i] = next[i];
      load(step + warp_parts);
      float sum[M][4] = {};
      QUARKSMITH_UNROLL
      for (int i = 0; i < most_tiles; ++i) {
        if (i >= tiles) continue;
        Vectors x[M];
        QUARKSMITH_UNROLL
        for (int m = 0; m < M; ++m) x[m] = shared[(i * M + m) * warp_size + at.thread];
        add_tile<Threads>(transposed(tile[i]), x, sum);
      }
      const int pair = 4 * step + at.pair();
      QUARKSMITH_UNROLL
      for (int m = 0; m < M; ++m)
        if (pair / chiral_pairs < v.sites * v.slices && at.rhs(m) < a.columns)
          Two<T>{{T(sum[m][0]), T(sum[m][2]), T(sum[m][1]), T(sum[m][3])}}.store(
              v.template pair<T>(a.out, at.rhs(m), pair));
    }
  }
};

/// Two complex numbers of a slice of a site for SpreadVectors (coarse_transfer.hpp).
template <class T>
QUARKSMITH_INLINE void spread_pair(const Arguments& a, const BlockVectors& b, const T& sign, int place, int pair,
                                   int slice) {
  const VectorTiles v(b, place / b.block_sites, pair / chiral_pairs);
  const int column = ((place % b.block_sites * b.slices + slice) * chiral_pairs + pair % chiral_pairs) * 2;
  for (int c = 0; c < a.columns; ++c) {
    const int number = a.direction + c, n = number % spinor_numbers;
    const int j = number / spinor_numbers * chiral_numbers + n % chiral_numbers;
    Two<T> out{};
    if (n / chiral_numbers == v.chirality) {
      const Tile tile = v.first[tile_place(b.rows, column, j)];
      const T factor = sign * T(v.scale[j]);
      QUARKSMITH_UNROLL
      for (int i = 0; i < 4; ++i) out.number[i] = factor * tile_number<T>(tile.pair[i / 2] >> 16 * (i % 2));
    }
    out.store(v.template pair<T>(a.out, c, column / 2));
  }
}

}  // namespace quarksmith::QUARKSMITH_TARGET
