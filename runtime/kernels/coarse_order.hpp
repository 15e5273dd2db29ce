/// \file
/// Fields and near-null vectors in the order of blocks.
#pragma once

#include "runtime/kernels/coarse_transfer_tiles.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// The numbers of a site in a field in the order of blocks.
template <class T>
QUARKSMITH_INLINE T* in_blocks(const Operand& f, const BlockVectors& b, long long site, int rhs, int slice) {
  return static_cast<T*>(f.data) + rhs * f.rhs_stride + slice * (f.rhs_stride / b.slices) + site * 2 * spinor_numbers;
}

/// out = in, from or to the order of blocks and the frame where gamma_5 = diag(1, 1, -1, -1).
template <class Codec, class Frame, bool ToBlocks>
struct BlockOrder : PanelBody<Codec> {
  using Element = typename Codec::Element;
  static constexpr bool vectorised = true;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using Spinors = SpinorView<Codec, 4, W>;
    using Real = typename Spinors::Real;
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const Place place = element_place(a.geometry, index);
    const int slice = index / b.lane_blocks, first = index % b.lane_blocks * W;
    const auto numbers = [&](const Operand& f, int lane) {
      return in_blocks<Element>(f, b, b.place[first + lane], rhs, slice);
    };
    if constexpr (ToBlocks) {
      const auto reals = as_reals<W>(Frame::to_chiral(Spinors::load(a.in, place, rhs)));
      for (int lane = 0; lane < W; ++lane) {
        Element site[2 * spinor_numbers];
        QUARKSMITH_UNROLL
        for (int n = 0; n < 2 * spinor_numbers; ++n) site[n] = get_lane(reals.w[n], lane);
        store_numbers(numbers(a.out, lane), site);
      }
    } else {
      Reals<Element, W, 2 * spinor_numbers> reals;
      for (int lane = 0; lane < W; ++lane) {
        Element site[2 * spinor_numbers];
        load_numbers(static_cast<const Element*>(numbers(a.in, lane)), site);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 2 * spinor_numbers; ++n) set_lane(reals.w[n], lane, site[n]);
      }
      Spinors::store(a.out, place, rhs, Frame::from_chiral(as_spinor<Real, W, 4, 3>(reals)));
    }
  }
};

/// out = +- in, with signs of blocks that alternate in the directions a.skip.
template <class Codec>
struct AlternateSigns : PanelBody<Codec> {
  using Element = typename Codec::Element;
  static constexpr bool vectorised = true;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using Spinors = SpinorView<Codec, 4, W>;
    using Real = typename Spinors::Real;
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const Place place = element_place(a.geometry, index);
    const int first = index % b.lane_blocks * W;
    Real sign;
    for (int lane = 0; lane < W; ++lane)
      set_lane(sign, lane, sign_of<Element>(b.odd[b.place[first + lane] / b.block_sites], a.skip));
    auto reals = as_reals<W>(Spinors::load(a.in, place, rhs));
    QUARKSMITH_UNROLL
    for (int n = 0; n < 2 * spinor_numbers; ++n) reals.w[n] = reals.w[n] * sign;
    Spinors::store(a.out, place, rhs, as_spinor<Real, W, 4, 3>(reals));
  }
};

/// Copies near-null vectors from the right-hand sides of a.in to the panels. With lanes a work item is a site of a
/// block, else one vector of it.
template <class Codec>
struct KeepVectors : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int place = has_lanes ? index : index / a.columns, begin = has_lanes ? 0 : index % a.columns;
    for (int slice = 0; slice < b.slices; ++slice) {
      T* const panel =
          static_cast<T*>(b.panel) + (static_cast<long long>(place) * b.slices + slice) * 2 * spinor_numbers * b.rows;
      for (int j = begin; j < (has_lanes ? a.columns : begin + 1); ++j) {
        T numbers[2 * spinor_numbers];
        load_numbers(in_blocks<const T>(a.in, b, place, j, slice), numbers);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 2 * spinor_numbers; ++n) panel[n * b.rows + a.direction + j] = numbers[n];
      }
    }
  }
};

/// Converts near-null vectors to 16 bits. With lanes a work item is a chirality of a block, else a row of one.
template <class Codec>
struct PackVectors : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int item = has_lanes ? index : index / b.rows, row = has_lanes ? 0 : index % b.rows;
    const int times = b.block_sites * b.slices;
    const long long apart = 2LL * spinor_numbers * b.rows,
                    begin = item / 2 * times * apart + item % 2 * 2LL * chiral_numbers * b.rows;
    const PackedRows<T> packed{static_cast<const T*>(b.panel) + begin,
                               b.packed + begin,
                               b.scale + static_cast<long long>(item) * b.rows,
                               row,
                               has_lanes ? b.rows : row + 1,
                               chiral_numbers,
                               times,
                               apart};
    if constexpr (has_lanes) {
      packed.pack(b.rows);
    } else {
      const T factor = packed.factor_of(row, b.rows, most_tile, tile_unit);
      Tile* const tiles = VectorTiles(b, item / 2, item % 2).first;
      for (int k = 0; k < times * chiral_numbers; ++k) {
        const T* const from = packed.from + k / chiral_numbers * apart + k % chiral_numbers * 2 * b.rows + row;
        set_tile(tiles, b.rows, k, row, from[0] * factor, from[b.rows] * factor);
      }
    }
  }
};

/// P of unit vectors, as fields: right-hand side n becomes the near-null vector of number a.direction + n of the 2 N
/// numbers of a coarse vector, with the signs of the pattern a.skip of blocks. With lanes a work item is a site of a
/// block, else one of its words.
template <class Codec, class Stored>
struct SpreadVectors : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    constexpr int items = has_lanes ? 1 : spread_items, words = 2 * spinor_numbers / items;
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int place = index / items, begin = index % items * words, block = place / b.block_sites;
    const T sign = sign_of<T>(b.odd[block], a.skip);
    for (int slice = 0; slice < b.slices; ++slice) {
      if constexpr (!has_lanes && sizeof(Stored) == 2) {
        spread_pair(a, b, sign, place, index % items, slice);
        continue;
      }
      const Stored* const panel =
          panel_of<Stored>(b) + (static_cast<long long>(place) * b.slices + slice) * 2 * spinor_numbers * b.rows;
      for (int c = 0; c < a.columns; ++c) {
        const int number = a.direction + c, n0 = number % spinor_numbers, chirality = n0 / chiral_numbers;
        const int j = number / spinor_numbers * chiral_numbers + n0 % chiral_numbers;
        T factor = sign;
        if constexpr (sizeof(Stored) == 2) factor *= T(b.scale[(2 * block + chirality) * b.rows + j]);
        T numbers[words];
        QUARKSMITH_UNROLL
        for (int n = 0; n < words; ++n)
          numbers[n] =
              (begin + n) / (2 * chiral_numbers) == chirality ? factor * T(panel[(begin + n) * b.rows + j]) : T(0);
        store_numbers(in_blocks<T>(a.out, b, place, c, slice) + begin, numbers);
      }
    }
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
