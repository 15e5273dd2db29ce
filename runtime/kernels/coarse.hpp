/// \file
/// Kernels on the lattice of blocks.
#pragma once

#include "runtime/kernels/coarse_panels.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Matrices of a site to 16 bits. An item is a site with lanes, else a row of one.
template <class Codec>
struct PackMatrices : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const int item = has_lanes ? index : index / s.rows, row = has_lanes ? 0 : index % s.rows;
    const int columns = s.points * s.places.slices * spinor_numbers;
    const long long begin = 2LL * item * columns * s.rows;
    PackedRows<T>{static_cast<const T*>(s.panel) + begin,
                  s.packed + begin,
                  s.scale + static_cast<long long>(item) * s.rows,
                  row,
                  has_lanes ? s.rows : row + 1,
                  columns,
                  1,
                  0}
        .pack(s.rows);
  }
};

/// Columns a.direction and those that follow, of the columns of all points one after the other, += b in. An item is a
/// site.
template <class Codec>
struct AddColumns : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const int rows = s.places.slices * spinor_numbers;
    const T factor = scalar<T>(a.b.re);
    for (int c = 0; c < a.columns; ++c) {
      T* const to =
          static_cast<T*>(s.panel) + 2 * (static_cast<long long>(index) * s.points * rows + a.direction + c) * s.rows;
      for (int i = 0; i < rows; ++i) {
        const T* const x = slice_of<const T>(a.in, s.places, s.first[index], c, i / spinor_numbers);
        to[i] += factor * x[s.places.word[2 * (i % spinor_numbers)]];
        to[s.rows + i] += factor * x[s.places.word[2 * (i % spinor_numbers) + 1]];
      }
    }
  }
};

/// The inverse of the matrix of a site in its place, by Gauss and Jordan with the largest pivot of a column. An item is
/// a site, which has one matrix.
template <class Codec>
struct InvertMatrices : PanelBody<Codec> {
  using T = typename Codec::Element;

  static QUARKSMITH_INLINE void swap(T& a, T& b) {
    const T c = a;
    a = b;
    b = c;
  }
  static QUARKSMITH_INLINE int largest(const T* column, int stored, int size, int from) {
    int at = from;
    T most = -1;
    for (int i = from; i < size; ++i) {
      const T norm = column[i] * column[i] + column[stored + i] * column[stored + i];
      if (norm > most) at = i;
      if (norm > most) most = norm;
    }
    return at;
  }
  /// Column k is 1 in row k and 0 elsewhere, but for what takes its place.
  static QUARKSMITH_INLINE void eliminate(T* matrix, int stored, int size, int k) {
    T* const pivot = matrix + 2LL * k * stored;
    const T norm = pivot[k] * pivot[k] + pivot[stored + k] * pivot[stored + k];
    const T inv_re = pivot[k] / norm, inv_im = -pivot[stored + k] / norm;
    for (int j = 0; j < size; ++j) {
      if (j == k) continue;
      T* const re = matrix + 2LL * j * stored;
      T* const im = re + stored;
      const T f_re = re[k] * inv_re - im[k] * inv_im, f_im = re[k] * inv_im + im[k] * inv_re;
      for (int i = 0; i < size; ++i) {
        re[i] -= pivot[i] * f_re - pivot[stored + i] * f_im;
        im[i] -= pivot[i] * f_im + pivot[stored + i] * f_re;
      }
      re[k] = f_re;
      im[k] = f_im;
    }
    for (int i = 0; i < size; ++i) {
      const T re = pivot[i], im = pivot[stored + i];
      pivot[i] = im * inv_im - re * inv_re;
      pivot[stored + i] = -(re * inv_im + im * inv_re);
    }
    pivot[k] = inv_re;
    pivot[stored + k] = inv_im;
  }

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const int size = s.places.slices * spinor_numbers, stored = s.rows;
    T* const matrix = static_cast<T*>(s.panel) + 2LL * index * size * stored;
    short row[2 * most_vectors];  // that was exchanged with row k
    for (int k = 0; k < size; ++k) {
      const T* const pivots = matrix + 2LL * k * stored;
      const int p = largest(pivots, stored, size, k);
      row[k] = short(p);
      if (!(pivots[p] * pivots[p] + pivots[stored + p] * pivots[stored + p] > T(0))) {
        *s.failed = 1;
        return;
      }
      for (int j = 0; p != k && j < 2 * size; ++j) swap(matrix[1LL * j * stored + k], matrix[1LL * j * stored + p]);
      eliminate(matrix, stored, size, k);
    }
    for (int k = size - 1; k >= 0; --k)
      for (int i = 0; row[k] != k && i < 2 * stored; ++i)
        swap(matrix[2LL * k * stored + i], matrix[2LL * row[k] * stored + i]);
  }
};

/// out = 0 but for numbers a.direction and those that follow of site a.skip, each 1 in a right-hand side of its own.
/// An item is a right-hand side.
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

/// out = a x + b sum_points C in for the sites of a parity; x is left out where it has no data.
template <class Codec, class Stored>
struct CoarseApply : PanelBody<Codec> {
  using T = typename Codec::Element;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int group, Lanes<double, W>*) {
    each_column_group<CoarseApply>(a, index, group);
  }

  template <int C>
  static QUARKSMITH_INLINE void columns(const Arguments& a, int index, int first) {
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const FieldPlaces& f = s.places;
    const int site = has_lanes ? index : index / s.rows, row = has_lanes ? 0 : index % s.rows;
    const int groups = has_lanes ? (s.rows + panel_lanes - 1) / panel_lanes : 1;
    PanelRows<T> re[most_groups][C], im[most_groups][C];
    for (int t = 0; t < groups; ++t)
      for (int c = 0; c < C; ++c) re[t][c] = im[t][c] = PanelRows<T>{};
    const Stored* panel = panel_of<Stored>(s) + 2LL * site * s.points * f.slices * spinor_numbers * s.rows + row;
    for (int point = 0; point < s.points; ++point) {
      const int from = s.other_first[site * s.points + point];
      for (int slice = 0; slice < f.slices; ++slice, panel += 2 * spinor_numbers * s.rows) {
        Complex<T> x[C][spinor_numbers];
        QUARKSMITH_UNROLL
        for (int c = 0; c < C; ++c) {
          const T* const at = slice_of<const T>(a.in, f, from, first + c, slice);
          QUARKSMITH_UNROLL
          for (int n = 0; n < spinor_numbers; ++n) x[c][n] = {at[f.word[2 * n]], at[f.word[2 * n + 1]]};
        }
        for (int t = 0; t < groups; ++t) add_panel<false>(panel + t * panel_lanes, s.rows, x, re[t], im[t]);
      }
    }
    const T own = scalar<T>(a.a.re), factor = scalar<T>(a.b.re);
    for (int t = 0; t < groups; ++t)
      for (int lane = 0; lane < panel_lanes; ++lane) {
        const int i = row + t * panel_lanes + lane, n = i % spinor_numbers, slice = i / spinor_numbers;
        if (slice >= f.slices) continue;
        T scale = factor;
        if constexpr (sizeof(Stored) == 2) scale *= T(s.scale[site * s.rows + i]);
        for (int c = 0; c < C; ++c) {
          T out_re = scale * get_lane(re[t][c], lane), out_im = scale * get_lane(im[t][c], lane);
          if (a.x.data != nullptr) {
            const T* const x = slice_of<const T>(a.x, f, s.first[site], first + c, slice);
            out_re += own * x[f.word[2 * n]];
            out_im += own * x[f.word[2 * n + 1]];
          }
          store_number(f, slice_of<T>(a.out, f, s.first[site], first + c, slice), n, out_re, out_im);
        }
      }
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
