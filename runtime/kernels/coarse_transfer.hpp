/// \file
/// Kernels between a lattice and that of its blocks.
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
struct BlockOrder {
  using Element = typename Codec::Element;
  static constexpr int tile = 1, sums = 0;
  static constexpr bool vectorised = true;
  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return int(a.count); }

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
struct AlternateSigns {
  using Element = typename Codec::Element;
  static constexpr int tile = 1, sums = 0;
  static constexpr bool vectorised = true;
  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return int(a.count); }

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

/// Near-null vectors from the right-hand sides of a.in into the panels; an item is a site of a block with lanes, else
/// one of its vectors.
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

/// Near-null vectors to 16 bits. An item is a chirality of a block with lanes, else a row of one.
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

/// out_c = +- V_j of one chirality, j = c and those that follow, as fields: what P makes of unit vectors. Both begin at
/// number a.direction of the 2 N numbers of a coarse vector; a.skip is the pattern of blocks. An item is a site of a
/// block with lanes, else one of its words.
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

/// out = P^+ in, or P^+ (in - x) with the sign of the block in front of x: inner products of the near-null vectors with
/// the fields of a block, each chirality by itself.
template <class Codec, class Stored>
struct RestrictRows : PanelBody<Codec> {
  using T = typename Codec::Element;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int group, Lanes<double, W>*) {
    each_column_group<RestrictRows>(a, index, group);
  }

  /// Numbers of one chirality of a site.
  static QUARKSMITH_INLINE const T* numbers_at(const Operand& f, const BlockVectors& b, long long site, int rhs,
                                               int slice, int chirality) {
    return in_blocks<const T>(f, b, site, rhs, slice) + chirality * 2 * chiral_numbers;
  }
  static QUARKSMITH_INLINE const Stored* panel_at(const BlockVectors& b, long long site, int slice, int chirality) {
    return panel_of<Stored>(b) + ((site * b.slices + slice) * 2 + chirality) * 2 * chiral_numbers * b.rows;
  }
  static QUARKSMITH_INLINE long long site_of(const BlockVectors& b, int block, int inside) {
    return static_cast<long long>(block) * b.block_sites + (b.site != nullptr ? b.site[inside] : inside);
  }

  /// Row j of a chirality of a block.
  static QUARKSMITH_INLINE void finish(const Arguments& a, const BlockVectors& b, int block, int chirality, int j,
                                       int rhs, T re, T im) {
    T scale = 1;
    if constexpr (sizeof(Stored) == 2) scale = T(b.scale[(2 * block + chirality) * b.rows + j]);
    store_number(b.coarse, coarse_slice<T>(a.out, b.coarse, b.coarse_first[block], rhs, j),
                 chirality * chiral_numbers + j % chiral_numbers, scale * re, scale * im);
  }

  /// With lanes: all rows of a block, some after the others, of which the sums stay in registers.
  template <int C>
  static QUARKSMITH_INLINE void all_rows(const Arguments& a, const BlockVectors& b, T sign, int block, int first) {
    const int last = b.coarse.slices * chiral_numbers;
    for (int chirality = 0; chirality < 2; ++chirality)
      for (int row = 0; row < last; row += panel_lanes<T>) {
        PanelRows<T> re[C], im[C];
        for (int c = 0; c < C; ++c) re[c] = im[c] = PanelRows<T>{};
        for (int inside = 0; inside < b.sites; ++inside) {
          const long long site = site_of(b, block, inside);
          for (int slice = 0; slice < b.slices; ++slice) {
            const T* x[C];
            T difference[C][2 * chiral_numbers];
            for (int c = 0; c < C; ++c) {
              x[c] = numbers_at(a.in, b, site, first + c, slice, chirality);
              if (a.x.data == nullptr) continue;
              const T* const other = numbers_at(a.x, b, site, first + c, slice, chirality);
              for (int n = 0; n < 2 * chiral_numbers; ++n) difference[c][n] = x[c][n] - sign * other[n];
              x[c] = difference[c];
            }
            add_columns<true>(panel_at(b, site, slice, chirality) + row, b.rows, chiral_numbers, x, re, im);
          }
        }
        T sums[2][C][panel_lanes<T>];
        __builtin_memcpy(sums[0], re, sizeof re);
        __builtin_memcpy(sums[1], im, sizeof im);
        for (int lane = 0; lane < panel_lanes<T> && row + lane < last; ++lane)
          for (int c = 0; c < C; ++c)
            finish(a, b, block, chirality, row + lane, first + c, sums[0][c][lane], sums[1][c][lane]);
      }
  }

  /// One chirality of a site.
  template <int C>
  static QUARKSMITH_INLINE void load(const Arguments& a, const BlockVectors& b, const T& sign, long long site,
                                     int first, int slice, int chirality, Complex<T> (&x)[C][chiral_numbers]) {
    QUARKSMITH_UNROLL
    for (int c = 0; c < C; ++c) {
      T from[2 * chiral_numbers], other[2 * chiral_numbers];
      load_numbers(numbers_at(a.in, b, site, first + c, slice, chirality), from);
      QUARKSMITH_UNROLL
      for (int n = 0; n < chiral_numbers; ++n) x[c][n] = {from[2 * n], from[2 * n + 1]};
      if (a.x.data == nullptr) continue;
      load_numbers(numbers_at(a.x, b, site, first + c, slice, chirality), other);
      QUARKSMITH_UNROLL
      for (int n = 0; n < chiral_numbers; ++n) {
        x[c][n].re -= sign * other[2 * n];
        x[c][n].im -= sign * other[2 * n + 1];
      }
    }
  }

  /// Without: a few rows of a chirality, part of the sites.
  template <int C>
  static QUARKSMITH_INLINE void some_rows(const Arguments& a, const BlockVectors& b, T sign, int index, int first) {
    const int part = index % panel_parts, rows = index / panel_parts, apart = b.rows / panel_lanes<T>;
    const int block = rows / (2 * apart), chirality = rows / apart % 2, row = rows % apart * panel_lanes<T>;
    PanelRows<T> re[C] = {}, im[C] = {};
    for (int k = part; k < b.sites * b.slices; k += panel_parts) {
      const int slice = k % b.slices;
      const long long site = site_of(b, block, k / b.slices);
      Complex<T> x[C][chiral_numbers];
      load(a, b, sign, site, first, slice, chirality, x);
      add_panel<true>(panel_at(b, site, slice, chirality) + row, b.rows, x, re, im);
    }
    for (int c = 0; c < C; ++c) {
      add_parts<T>(re[c]);
      add_parts<T>(im[c]);
    }
    QUARKSMITH_UNROLL
    for (int lane = 0; lane < panel_lanes<T>; ++lane) {
      if (row + lane >= b.coarse.slices * chiral_numbers) continue;
      for (int c = 0; c < C; ++c)
        if ((lane * C + c) % panel_parts == part)
          finish(a, b, block, chirality, row + lane, first + c, get_lane(re[c], lane), get_lane(im[c], lane));
    }
  }

  template <int C>
  static QUARKSMITH_INLINE void columns(const Arguments& a, int index, int first) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    if constexpr (has_lanes) {
      all_rows<C>(a, b, a.x.data != nullptr ? sign_of<T>(b.odd[index], a.skip) : T(0), index, first);
    } else {
      const int block = index / panel_parts / (2 * (b.rows / panel_lanes<T>));
      some_rows<C>(a, b, a.x.data != nullptr ? sign_of<T>(b.odd[block], a.skip) : T(0), index, first);
    }
  }
};

/// out = P in. An item is a block with lanes, else a number of some of its sites.
template <class Codec, class Stored>
struct ProlongRows : PanelBody<Codec> {
  using T = typename Codec::Element;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int group, Lanes<double, W>*) {
    each_column_group<ProlongRows>(a, index, group);
  }

  /// Number j of a chirality of a coarse vector, with the factor of row j.
  static QUARKSMITH_INLINE Complex<T> number(const Arguments& a, const BlockVectors& b, int block, int rhs,
                                             int chirality, int j) {
    if (j >= b.coarse.slices * chiral_numbers) return {T(0), T(0)};
    const T* const x = coarse_slice<const T>(a.in, b.coarse, b.coarse_first[block], rhs, j);
    const int n = chirality * chiral_numbers + j % chiral_numbers;
    T scale = 1;
    if constexpr (sizeof(Stored) == 2) scale = T(b.scale[(2 * block + chirality) * b.rows + j]);
    return {scale * x[b.coarse.word[2 * n]], scale * x[b.coarse.word[2 * n + 1]]};
  }

  /// The vectors of a block.
  template <int C>
  struct Coarse {
    PanelRows<T> re[2][most_groups<T>][C], im[2][most_groups<T>][C];

    QUARKSMITH_INLINE void load(const Arguments& a, const BlockVectors& b, int block, int first, int groups) {
      for (int chirality = 0; chirality < 2; ++chirality)
        for (int j = 0; j < groups * panel_lanes<T>; ++j)
          for (int c = 0; c < C; ++c) {
            const Complex<T> z = number(a, b, block, first + c, chirality, j);
            set_lane(re[chirality][j / panel_lanes<T>][c], j % panel_lanes<T>, z.re);
            set_lane(im[chirality][j / panel_lanes<T>][c], j % panel_lanes<T>, z.im);
          }
    }
  };

  /// One chirality of a slice of a site.
  template <int C>
  static QUARKSMITH_INLINE void add_up(const Arguments& a, const BlockVectors& b, const Coarse<C>& x, int first,
                                       int slice, int chirality, long long site) {
    const Stored* const panel =
        panel_of<Stored>(b) + ((site * b.slices + slice) * 2 + chirality) * 2 * chiral_numbers * b.rows;
    PanelRows<T> re[C][chiral_numbers] = {}, im[C][chiral_numbers] = {};
    for (int j = 0; j < b.rows; j += panel_lanes<T>) {
      const auto &x_re = x.re[chirality][j / panel_lanes<T>], &x_im = x.im[chirality][j / panel_lanes<T>];
      QUARKSMITH_UNROLL
      for (int n = 0; n < chiral_numbers; ++n) {
        const PanelRows<T> v_re = panel_load<T>(panel + n * 2 * b.rows + j),
                           v_im = panel_load<T>(panel + (n * 2 + 1) * b.rows + j);
        QUARKSMITH_UNROLL
        for (int c = 0; c < C; ++c) {
          re[c][n] = re[c][n] + v_re * x_re[c] - v_im * x_im[c];
          im[c][n] = im[c][n] + v_re * x_im[c] + v_im * x_re[c];
        }
      }
    }
    QUARKSMITH_UNROLL
    for (int c = 0; c < C; ++c) {
      T* const to = in_blocks<T>(a.out, b, site, first + c, slice) + chirality * 2 * chiral_numbers;
      QUARKSMITH_UNROLL
      for (int n = 0; n < chiral_numbers; ++n) {
        to[2 * n] = sum_of_lanes<panel_lanes<T>, T>(re[c][n]);
        to[2 * n + 1] = sum_of_lanes<panel_lanes<T>, T>(im[c][n]);
      }
    }
  }

  /// Numbers of a chirality of a slice of a coarse vector.
  static QUARKSMITH_INLINE void load_chirality(const Stored* from, T (&to)[chiral_numbers]) {
    struct alignas(2 * sizeof(Stored)) Pair {
      Stored row[2];
    };
    QUARKSMITH_UNROLL
    for (int k = 0; k < chiral_numbers; k += 2) {
      const Pair pair = *reinterpret_cast<const Pair*>(from + k);
      to[k] = T(pair.row[0]);
      to[k + 1] = T(pair.row[1]);
    }
  }

  /// Number n of item_sites sites of a block: what a thread makes.
  template <int C>
  static QUARKSMITH_INLINE void numbers(const Arguments& a, int index, int first) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int n = index % spinor_numbers, slice = index / spinor_numbers % b.slices;
    const int together = index / (spinor_numbers * b.slices), groups = (b.block_sites + item_sites - 1) / item_sites;
    const int block = together / groups, begin = together % groups * item_sites, chirality = n / chiral_numbers;
    const Stored* panel[item_sites];
    QUARKSMITH_UNROLL
    for (int s = 0; s < item_sites; ++s) {  // a site that is not there counts as the last one
      const int inside = begin + s < b.block_sites ? begin + s : b.block_sites - 1;
      const long long site = static_cast<long long>(block) * b.block_sites + inside;
      panel[s] = panel_of<Stored>(b) + ((site * b.slices + slice) * spinor_numbers + n) * 2 * b.rows;
    }
    T re[item_sites][C] = {}, im[item_sites][C] = {};
    for (int t = 0; t < b.coarse.slices; ++t) {
      const int j = t * chiral_numbers;
      Complex<T> x[C][chiral_numbers];
      QUARKSMITH_UNROLL
      for (int c = 0; c < C; ++c)
        load_complex(in_order_of_sites<T>(a.y, first + c, block * b.coarse.slices + t) + chirality * 2 * chiral_numbers,
                     x[c]);
      QUARKSMITH_UNROLL
      for (int s = 0; s < item_sites; ++s) {
        T v_re[chiral_numbers], v_im[chiral_numbers];
        load_chirality(panel[s] + j, v_re);
        load_chirality(panel[s] + b.rows + j, v_im);
        QUARKSMITH_UNROLL
        for (int k = 0; k < chiral_numbers; ++k) {
          QUARKSMITH_UNROLL
          for (int c = 0; c < C; ++c) {
            re[s][c] += v_re[k] * x[c][k].re - v_im[k] * x[c][k].im;
            im[s][c] += v_re[k] * x[c][k].im + v_im[k] * x[c][k].re;
          }
        }
      }
    }
    QUARKSMITH_UNROLL
    for (int s = 0; s < item_sites; ++s) {
      if (begin + s >= b.block_sites) continue;
      QUARKSMITH_UNROLL
      for (int c = 0; c < C; ++c) {
        T* const to =
            in_blocks<T>(a.out, b, static_cast<long long>(block) * b.block_sites + begin + s, first + c, slice) + 2 * n;
        to[0] = re[s][c];
        to[1] = im[s][c];
      }
    }
  }

  template <int C>
  static QUARKSMITH_INLINE void columns(const Arguments& a, int index, int first) {
    if constexpr (!has_lanes) {
      numbers<C>(a, index, first);
    } else {
      const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
      Coarse<C> coarse;
      coarse.load(a, b, index, first, (b.rows + panel_lanes<T> - 1) / panel_lanes<T>);
      for (int s = 0; s < b.block_sites; ++s)
        for (int slice = 0; slice < b.slices; ++slice)
          for (int chirality = 0; chirality < 2; ++chirality)
            add_up(a, b, coarse, first, slice, chirality, static_cast<long long>(index) * b.block_sites + s);
    }
  }
};

/// Restriction and prolongation with vectors that are stored so.
template <class Codec, class Stored>
struct Restrict
    : std::conditional_t<!has_lanes && sizeof(Stored) == 2, RestrictTiles<Codec>, RestrictRows<Codec, Stored>> {};
template <class Codec, class Stored>
struct Prolong
    : std::conditional_t<!has_lanes && sizeof(Stored) == 2, ProlongTiles<Codec>, ProlongRows<Codec, Stored>> {};

}  // namespace quarksmith::QUARKSMITH_TARGET
