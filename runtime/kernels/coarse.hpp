/// \file
/// Kernels on the lattice of blocks.
#pragma once

#include "runtime/kernels/coarse_tiles.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Converts matrices of sites to 16 bits. With lanes a work item is a site, else a row of one.
template <class Codec>
struct PackMatrices : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const int item = has_lanes ? index : index / s.rows, row = has_lanes ? 0 : index % s.rows;
    const int columns = s.points * s.places.slices * spinor_numbers;
    const long long begin = 2LL * item * columns * s.rows;
    const PackedRows<T> packed{static_cast<const T*>(s.panel) + begin,
                               s.packed + begin,
                               s.scale + static_cast<long long>(item) * s.rows,
                               row,
                               has_lanes ? s.rows : row + 1,
                               columns,
                               1,
                               0};
    if constexpr (has_lanes) {
      packed.pack(s.rows);
    } else {
      const T factor = packed.factor_of(row, s.rows, most_tile, tile_unit);
      const int each = s.places.slices * spinor_numbers;
      for (int k = 0; k < columns; ++k)
        set_tile(CoarseTiles<Codec>::tiles_of(s, item, k / each), s.rows, k % each, row,
                 packed.from[2 * k * s.rows + row] * factor, packed.from[(2 * k + 1) * s.rows + row] * factor);
    }
  }
};

/// Adds b in to column a.direction and the following ones, counted over all points; or to those of the point that a.y
/// gives for each site (-1: none). With lanes a work item is a site, else a row of one.
template <class Codec>
struct AddColumns : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const int rows = s.places.slices * spinor_numbers;
    const int site = has_lanes ? index : index / rows, begin = has_lanes ? 0 : index % rows;
    const int point = a.y.data != nullptr ? static_cast<const int*>(a.y.data)[site] : 0;
    if (point < 0) return;
    const T factor = scalar<T>(a.b.re);
    for (int c = 0; c < a.columns; ++c) {
      const long long column = (static_cast<long long>(site) * s.points + point) * rows + a.direction + c;
      T* const to = static_cast<T*>(s.panel) + 2 * column * s.rows;
      for (int i = begin; i < (has_lanes ? rows : begin + 1); ++i) {
        const T* const x = slice_of<const T>(a.in, s.places, s.first[site], c, i / spinor_numbers);
        to[i] += factor * x[s.places.word[2 * (i % spinor_numbers)]];
        to[s.rows + i] += factor * x[s.places.word[2 * (i % spinor_numbers) + 1]];
      }
    }
  }
};

/// Copies the numbers of a coarse field to the order of sites. A work item is a slice of a site.
template <class Codec>
struct GatherNumbers : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int rhs, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const CoarseSites& s = *static_cast<const CoarseSites*>(a.matrix);
    const int site = index % s.sites, slice = index / s.sites;
    const T* const from = slice_of<const T>(a.in, s.places, s.first[site], rhs, slice);
    T numbers[2 * spinor_numbers];
    QUARKSMITH_UNROLL
    for (int n = 0; n < 2 * spinor_numbers; ++n) numbers[n] = from[s.places.word[n]];
    store_numbers(in_order_of_sites<T>(a.out, rhs, site * s.places.slices + slice), numbers);
  }
};

/// Sets unit vectors at site a.skip: in right-hand side n, number a.direction + n is 1, all others are 0. A work item
/// is a right-hand side.
template <class Codec>
struct SetUnits : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const int number = a.direction + index;
    store_number(s.places, slice_of<T>(a.out, s.places, s.first[a.skip], index, number / spinor_numbers),
                 number % spinor_numbers, T(1), T(0));
  }
};

/// The product of CoarseApply, for a few rows at a time.
template <class Codec, class Stored>
struct CoarseRows : PanelBody<Codec> {
  using T = typename Codec::Element;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int group, Lanes<double, W>*) {
    each_column_group<CoarseRows>(a, index, group);
  }

  /// Numbers n, n + 1, ... of a slice of the site to which matrix number `matrix` is applied.
  template <int C>
  static QUARKSMITH_INLINE void load(const Arguments& a, const Stencil& s, int matrix, int first, int slice, int n,
                                     Complex<T> (&x)[C][chiral_numbers]) {
    QUARKSMITH_UNROLL
    for (int c = 0; c < C; ++c)
      load_complex(in_order_of_sites<T>(a.y, first + c, s.other[matrix] * s.places.slices + slice) + 2 * n, x[c]);
  }

  /// Row i of a site.
  static QUARKSMITH_INLINE void finish(const Arguments& a, const Stencil& s, int site, int i, int rhs, T re, T im) {
    const FieldPlaces& f = s.places;
    const int n = i % spinor_numbers, slice = i / spinor_numbers;
    T factor = scalar<T>(a.b.re);
    if constexpr (sizeof(Stored) == 2) factor *= T(s.scale[site * s.rows + i]);
    re *= factor;
    im *= factor;
    if (a.x.data != nullptr) {
      const T own = scalar<T>(a.a.re);
      const T* const x = slice_of<const T>(a.x, f, s.first[site], rhs, slice);
      re += own * x[f.word[2 * n]];
      im += own * x[f.word[2 * n + 1]];
    }
    store_number(f, slice_of<T>(a.out, f, s.first[site], rhs, slice), n, re, im);
  }

  /// With lanes: all rows of a site, a few at a time, whose sums stay in registers.
  template <int C>
  static QUARKSMITH_INLINE void all_rows(const Arguments& a, const Stencil& s, int site, int first) {
    const int columns = s.places.slices * spinor_numbers;
    const Stored* const matrices = panel_of<Stored>(s) + 2LL * site * s.points * columns * s.rows;
    for (int row = 0; row < columns; row += panel_lanes<T>) {
      PanelRows<T> re[C], im[C];
      for (int c = 0; c < C; ++c) re[c] = im[c] = PanelRows<T>{};
      const Stored* panel = matrices + row;
      for (int point = 0; point < s.points; ++point, panel += 2LL * columns * s.rows) {
        const T* x[C];
        for (int c = 0; c < C; ++c)
          x[c] = in_order_of_sites<T>(a.y, first + c, s.other[site * s.points + point] * s.places.slices);
        add_columns<false>(panel, s.rows, columns, x, re, im);
      }
      each_row<T>(re, im, columns - row, [&](int lane, int c, T sum_re, T sum_im) {
        finish(a, s, site, row + lane, first + c, sum_re, sum_im);
      });
    }
  }

  /// Without lanes: a few rows of a site, for a part of the columns.
  template <int C>
  static QUARKSMITH_INLINE void some_rows(const Arguments& a, const Stencil& s, int index, int first) {
    const int part = index % panel_parts, rows = index / panel_parts, apart = s.rows / panel_lanes<T>;
    const int site = rows / apart, row = rows % apart * panel_lanes<T>, columns = s.points * s.places.slices;
    PanelRows<T> re[C] = {}, im[C] = {};
    const Stored* const matrices = panel_of<Stored>(s) + 2LL * site * columns * spinor_numbers * s.rows + row;
    for (int k = part; k < columns; k += panel_parts) {
      const int point = k / s.places.slices, slice = k % s.places.slices;
      const Stored* panel = matrices + static_cast<long long>(k) * 2 * spinor_numbers * s.rows;
      for (int n = 0; n < spinor_numbers; n += chiral_numbers, panel += 2 * chiral_numbers * s.rows) {
        Complex<T> x[C][chiral_numbers];
        load<C>(a, s, site * s.points + point, first, slice, n, x);
        add_panel<false>(panel, s.rows, x, re, im);
      }
    }
    for (int c = 0; c < C; ++c) {
      add_parts<T>(re[c]);
      add_parts<T>(im[c]);
    }
    QUARKSMITH_UNROLL
    for (int lane = 0; lane < panel_lanes<T>; ++lane) {
      if (row + lane >= s.places.slices * spinor_numbers) continue;
      for (int c = 0; c < C; ++c)
        if ((lane * C + c) % panel_parts == part)
          finish(a, s, site, row + lane, first + c, get_lane(re[c], lane), get_lane(im[c], lane));
    }
  }

  template <int C>
  static QUARKSMITH_INLINE void columns(const Arguments& a, int index, int first) {
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    if constexpr (has_lanes) {
      all_rows<C>(a, s, index, first);
    } else {
      some_rows<C>(a, s, index, first);
    }
  }
};

/// out = a x + b sum_points C in for the sites of a parity; without x if that has no data.
template <class Codec, class Stored>
struct CoarseApply
    : std::conditional_t<!has_lanes && sizeof(Stored) == 2, CoarseTiles<Codec>, CoarseRows<Codec, Stored>> {};

}  // namespace quarksmith::QUARKSMITH_TARGET
