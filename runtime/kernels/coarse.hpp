/// \file
/// Kernels between a lattice and that of its blocks, and on the latter: products of dense matrices and vectors.
///
/// Matrices lie in panels of panel_rows rows (coarse_records.hpp). With SIMD lanes an item is a block, or coarse site,
/// and panels are worked on as vectors; elsewhere an item is one row, for which a thread accounts. a.rhs counts groups
/// of panel_columns of the a.columns right-hand sides, a.count items.
#pragma once

#include "runtime/kernels/coarse_records.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Rows of a panel that an item takes together, and panels that it works on.
inline constexpr int panel_lanes = has_lanes ? panel_rows : 1;
inline constexpr int most_tiles = has_lanes ? (2 * most_vectors + panel_rows - 1) / panel_rows : 1;

template <class T>
using PanelRows = Lanes<T, panel_lanes>;

/// Those of a column: real parts, imaginary parts.
template <class T>
QUARKSMITH_INLINE PanelRows<T> panel_load(const T* from) {
  if constexpr (has_lanes) {
    return load_lanes<T, panel_lanes>(from);
  } else {
    return *from;
  }
}

/// The numbers of a spinor that begins there.
template <class T>
QUARKSMITH_INLINE Spinor<T, 4> load_spinor(const FieldPlaces& f, const T* first) {
  Spinor<T, 4> psi;
  QUARKSMITH_UNROLL
  for (int n = 0; n < spinor_numbers; ++n) psi[n / 3].c[n % 3] = {first[f.word[2 * n]], first[f.word[2 * n + 1]]};
  return psi;
}
template <class T>
QUARKSMITH_INLINE void store_number(const FieldPlaces& f, T* first, int n, const T& re, const T& im) {
  for (int copy = 0; copy < f.copies; ++copy) {
    first[f.word[2 * n] + copy * f.apart] = re;
    first[f.word[2 * n + 1] + copy * f.apart] = im;
  }
}
template <class T>
QUARKSMITH_INLINE T* slice_of(const Operand& f, const FieldPlaces& places, int first, int rhs, int slice) {
  return static_cast<T*>(f.data) + rhs * f.rhs_stride + slice * (f.rhs_stride / places.slices) + first;
}

/// sums[c] += m x[c] for `Numbers` columns of a panel, or with the conjugate of m.
template <bool Conjugate, int Numbers, int C, class T>
QUARKSMITH_INLINE void add_panel(const T* panel, const Complex<T> (&x)[C][Numbers], PanelRows<T> (&re)[C],
                                 PanelRows<T> (&im)[C]) {
  QUARKSMITH_UNROLL
  for (int n = 0; n < Numbers; ++n) {
    const PanelRows<T> m_re = panel_load(panel + 2 * n * panel_rows),
                       m_im = panel_load(panel + (2 * n + 1) * panel_rows);
    QUARKSMITH_UNROLL
    for (int c = 0; c < C; ++c) {
      const T x_re = x[c][n].re, x_im = x[c][n].im;
      re[c] = re[c] + m_re * x_re;
      im[c] = im[c] + m_re * x_im;
      re[c] = Conjugate ? re[c] + m_im * x_im : re[c] - m_im * x_im;
      im[c] = Conjugate ? im[c] - m_im * x_re : im[c] + m_im * x_re;
    }
  }
}

/// Calls body.columns<C>(a, index, first) for right-hand sides first ... first + C - 1, up to panel_columns of a group.
template <class Body>
QUARKSMITH_INLINE void each_column_group(const Arguments& a, int index, int group) {
  int first = group * panel_columns, left = a.columns - first;
  if (left >= 4) return Body::template columns<4>(a, index, first);
  if (left >= 2) {
    Body::template columns<2>(a, index, first);
    first += 2;
    left -= 2;
  }
  if (left >= 1) Body::template columns<1>(a, index, first);
}

template <class Codec>
struct PanelBody {
  using Element = typename Codec::Element;
  static constexpr int tile = 1, sums = 0;
  static constexpr bool vectorised = false;
  static QUARKSMITH_HOST_DEVICE int count(const Arguments& a) { return int(a.count); }
};

/// Near-null vectors from the right-hand sides of a.in into the panels; an item is a site of a block.
template <class Codec, class Frame>
struct KeepVectors : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    constexpr int size = 2 * chiral_numbers * panel_rows;
    for (int slice = 0; slice < b.fine.slices; ++slice)
      for (int j = 0; j < a.columns; ++j) {
        const Spinor<T, 4> psi =
            Frame::to_chiral(load_spinor(b.fine, slice_of<const T>(a.in, b.fine, b.fine_first[index], j, slice)));
        T* const panel =
            static_cast<T*>(b.panel) +
            ((static_cast<long long>(index) * b.fine.slices + slice) * 2 * b.tiles + j / panel_rows) * size +
            j % panel_rows;
        QUARKSMITH_UNROLL
        for (int n = 0; n < spinor_numbers; ++n) {
          T* const to = panel + n / chiral_numbers * b.tiles * size + n % chiral_numbers * 2 * panel_rows;
          to[0] = psi[n / 3].c[n % 3].re;
          to[panel_rows] = psi[n / 3].c[n % 3].im;
        }
      }
  }
};

/// out = P^+ in: inner products of the near-null vectors with the fields of a block, each chirality by itself.
template <class Codec, class Frame>
struct Restrict : PanelBody<Codec> {
  using T = typename Codec::Element;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int group, Lanes<double, W>*) {
    each_column_group<Restrict>(a, index, group);
  }

  template <int C>
  static QUARKSMITH_INLINE void columns(const Arguments& a, int index, int first) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int rows = b.tiles * panel_rows;
    const int block = has_lanes ? index : index / (2 * rows), row = has_lanes ? 0 : index % rows;
    const int first_chirality = has_lanes ? 0 : index / rows % 2, last_chirality = has_lanes ? 1 : first_chirality;
    const int first_tile = row / panel_rows, tiles = has_lanes ? b.tiles : 1;
    constexpr int size = 2 * chiral_numbers * panel_rows;
    PanelRows<T> re[2][most_tiles][C], im[2][most_tiles][C];
    for (int chirality = first_chirality; chirality <= last_chirality; ++chirality)
      for (int t = 0; t < tiles; ++t)
        for (int c = 0; c < C; ++c) re[chirality][t][c] = im[chirality][t][c] = PanelRows<T>{};
    for (int s = 0; s < b.block_sites; ++s) {
      const long long site = static_cast<long long>(block) * b.block_sites + s;
      for (int slice = 0; slice < b.fine.slices; ++slice) {
        Complex<T> x[2][C][chiral_numbers];
        QUARKSMITH_UNROLL
        for (int c = 0; c < C; ++c) {
          const Spinor<T, 4> psi = Frame::to_chiral(
              load_spinor(b.fine, slice_of<const T>(a.in, b.fine, b.fine_first[site], first + c, slice)));
          QUARKSMITH_UNROLL
          for (int n = 0; n < spinor_numbers; ++n) x[n / chiral_numbers][c][n % chiral_numbers] = psi[n / 3].c[n % 3];
        }
        for (int chirality = first_chirality; chirality <= last_chirality; ++chirality) {
          const T* panel = static_cast<const T*>(b.panel) +
                           (((site * b.fine.slices + slice) * 2 + chirality) * b.tiles + first_tile) * size +
                           row % panel_rows;
          for (int t = 0; t < tiles; ++t, panel += size)
            add_panel<true>(panel, x[chirality], re[chirality][t], im[chirality][t]);
        }
      }
    }
    const int last = b.coarse.slices * chiral_numbers;
    for (int chirality = first_chirality; chirality <= last_chirality; ++chirality)
      for (int t = 0; t < tiles; ++t)
        for (int lane = 0; lane < panel_lanes; ++lane) {
          const int j = row + t * panel_rows + lane;
          if (j >= last) continue;
          for (int c = 0; c < C; ++c)
            store_number(b.coarse, slice_of<T>(a.out, b.coarse, b.coarse_first[block], first + c, j / chiral_numbers),
                         chirality * chiral_numbers + j % chiral_numbers, get_lane(re[chirality][t][c], lane),
                         get_lane(im[chirality][t][c], lane));
        }
  }
};

/// The sum of the rows of a panel.
template <class T>
QUARKSMITH_INLINE T sum_of(const PanelRows<T>& v) {
  T sum = get_lane(v, 0);
  QUARKSMITH_UNROLL
  for (int lane = 1; lane < panel_lanes; ++lane) sum += get_lane(v, lane);
  return sum;
}

/// out = P in. An item is a block with lanes, else a site of one.
template <class Codec, class Frame>
struct Prolong : PanelBody<Codec> {
  using T = typename Codec::Element;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int group, Lanes<double, W>*) {
    each_column_group<Prolong>(a, index, group);
  }

  /// Number j of a chirality of a coarse vector.
  static QUARKSMITH_INLINE Complex<T> number(const Arguments& a, const BlockVectors& b, int block, int rhs,
                                             int chirality, int j) {
    if (j >= b.coarse.slices * chiral_numbers) return {T(0), T(0)};
    const T* const x = slice_of<const T>(a.in, b.coarse, b.coarse_first[block], rhs, j / chiral_numbers);
    const int n = chirality * chiral_numbers + j % chiral_numbers;
    return {x[b.coarse.word[2 * n]], x[b.coarse.word[2 * n + 1]]};
  }

  /// The vectors of a block, where an item takes the whole block; else read where they are needed.
  template <int C>
  struct Coarse {
    PanelRows<T> re[2][most_tiles][C], im[2][most_tiles][C];

    /// \return false if all numbers are zero, as most are of probes (solvers/multigrid/coarse_operator.cpp).
    QUARKSMITH_INLINE bool load(const Arguments& a, const BlockVectors& b, int block, int first) {
      bool any = false;
      for (int chirality = 0; chirality < 2; ++chirality)
        for (int j = 0; j < b.tiles * panel_rows; ++j)
          for (int c = 0; c < C; ++c) {
            const Complex<T> z = number(a, b, block, first + c, chirality, j);
            set_lane(re[chirality][j / panel_rows][c], j % panel_rows, z.re);
            set_lane(im[chirality][j / panel_rows][c], j % panel_rows, z.im);
            any = any || z.re != T(0) || z.im != T(0);
          }
      return any;
    }
    QUARKSMITH_INLINE void get(const Arguments& a, const BlockVectors& b, int block, int first, int chirality, int t,
                               int lane, PanelRows<T> (&x_re)[C], PanelRows<T> (&x_im)[C]) const {
      QUARKSMITH_UNROLL
      for (int c = 0; c < C; ++c) {
        if constexpr (has_lanes) {
          x_re[c] = re[chirality][t][c];
          x_im[c] = im[chirality][t][c];
        } else {
          const Complex<T> z = number(a, b, block, first + c, chirality, t * panel_rows + lane);
          x_re[c] = z.re;
          x_im[c] = z.im;
        }
      }
    }
  };

  /// One chirality of the spinors of a slice of a site, whose panels begin there.
  template <int C>
  static QUARKSMITH_INLINE void add_up(const Arguments& a, const BlockVectors& b, const Coarse<C>& coarse, int block,
                                       int first, int chirality, int tiles, const T* panel, Spinor<T, 4> (&psi)[C]) {
    PanelRows<T> re[C][chiral_numbers] = {}, im[C][chiral_numbers] = {};
    for (int t = 0; t < tiles; ++t)
      for (int lane = 0; lane < (has_lanes ? 1 : panel_rows); ++lane) {
        PanelRows<T> x_re[C], x_im[C];
        coarse.get(a, b, block, first, chirality, t, lane, x_re, x_im);
        QUARKSMITH_UNROLL
        for (int n = 0; n < chiral_numbers; ++n) {
          const T* const at = panel + ((chirality * b.tiles + t) * chiral_numbers + n) * 2 * panel_rows + lane;
          const PanelRows<T> v_re = panel_load(at), v_im = panel_load(at + panel_rows);
          QUARKSMITH_UNROLL
          for (int c = 0; c < C; ++c) {
            re[c][n] = re[c][n] + v_re * x_re[c] - v_im * x_im[c];
            im[c][n] = im[c][n] + v_re * x_im[c] + v_im * x_re[c];
          }
        }
      }
    QUARKSMITH_UNROLL
    for (int c = 0; c < C; ++c) {
      QUARKSMITH_UNROLL
      for (int n = 0; n < chiral_numbers; ++n)
        psi[c][2 * chirality + n / 3].c[n % 3] = {sum_of<T>(re[c][n]), sum_of<T>(im[c][n])};
    }
  }

  template <int C>
  static QUARKSMITH_INLINE void columns(const Arguments& a, int index, int first) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int block = has_lanes ? index : index / b.block_sites;
    const int begin = has_lanes ? 0 : index % b.block_sites, end = has_lanes ? b.block_sites : begin + 1;
    Coarse<C> coarse;
    int tiles = b.tiles;
    if constexpr (has_lanes)
      if (!coarse.load(a, b, block, first)) tiles = 0;
    for (int s = begin; s < end; ++s)
      for (int slice = 0; slice < b.fine.slices; ++slice) {
        const long long site = static_cast<long long>(block) * b.block_sites + s;
        const T* const panel = static_cast<const T*>(b.panel) +
                               (site * b.fine.slices + slice) * 2 * b.tiles * 2 * chiral_numbers * panel_rows;
        Spinor<T, 4> psi[C];
        for (int chirality = 0; chirality < 2; ++chirality)
          add_up(a, b, coarse, block, first, chirality, tiles, panel, psi);
        for (int c = 0; c < C; ++c) {
          const Spinor<T, 4> turned = Frame::from_chiral(psi[c]);
          T* const to = slice_of<T>(a.out, b.fine, b.fine_first[site], first + c, slice);
          QUARKSMITH_UNROLL
          for (int n = 0; n < spinor_numbers; ++n)
            store_number(b.fine, to, n, turned[n / 3].c[n % 3].re, turned[n / 3].c[n % 3].im);
        }
      }
  }
};

/// out = a x + b sum_points C in for the sites of a parity; x is left out where it has no data.
template <class Codec>
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
    const int rows = s.tiles * panel_rows;
    const int site = has_lanes ? index : index / rows, row = has_lanes ? 0 : index % rows;
    const int first_tile = row / panel_rows, tiles = has_lanes ? s.tiles : 1;
    constexpr int size = 2 * spinor_numbers * panel_rows;
    PanelRows<T> re[most_tiles][C], im[most_tiles][C];
    for (int t = 0; t < tiles; ++t)
      for (int c = 0; c < C; ++c) re[t][c] = im[t][c] = PanelRows<T>{};
    for (int point = 0; point < s.points; ++point) {
      const int from = s.other_first[site * s.points + point];
      for (int slice = 0; slice < f.slices; ++slice) {
        Complex<T> x[C][spinor_numbers];
        QUARKSMITH_UNROLL
        for (int c = 0; c < C; ++c) {
          const T* const at = slice_of<const T>(a.in, f, from, first + c, slice);
          QUARKSMITH_UNROLL
          for (int n = 0; n < spinor_numbers; ++n) x[c][n] = {at[f.word[2 * n]], at[f.word[2 * n + 1]]};
        }
        const T* panel =
            static_cast<const T*>(s.panel) +
            (((static_cast<long long>(site) * s.points + point) * f.slices + slice) * s.tiles + first_tile) * size +
            row % panel_rows;
        for (int t = 0; t < tiles; ++t, panel += size) add_panel<false>(panel, x, re[t], im[t]);
      }
    }
    const T own = scalar<T>(a.a.re), factor = scalar<T>(a.b.re);
    for (int t = 0; t < tiles; ++t)
      for (int lane = 0; lane < panel_lanes; ++lane) {
        const int i = row + t * panel_rows + lane, n = i % spinor_numbers, slice = i / spinor_numbers;
        if (slice >= f.slices) continue;
        for (int c = 0; c < C; ++c) {
          T out_re = factor * get_lane(re[t][c], lane), out_im = factor * get_lane(im[t][c], lane);
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
