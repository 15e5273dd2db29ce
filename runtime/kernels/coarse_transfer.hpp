/// \file
/// Kernels between a lattice and that of its blocks.
#pragma once

#include "runtime/kernels/coarse_panels.hpp"

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
        Element* const to = numbers(a.out, lane);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 2 * spinor_numbers; ++n) to[n] = get_lane(reals.w[n], lane);
      }
    } else {
      Reals<Element, W, 2 * spinor_numbers> reals;
      for (int lane = 0; lane < W; ++lane) {
        const Element* const from = numbers(a.in, lane);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 2 * spinor_numbers; ++n) set_lane(reals.w[n], lane, from[n]);
      }
      Spinors::store(a.out, place, rhs, Frame::from_chiral(as_spinor<Real, W, 4, 3>(reals)));
    }
  }
};

/// Near-null vectors from the right-hand sides of a.in into the panels; an item is a site of a block.
template <class Codec>
struct KeepVectors : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    for (int slice = 0; slice < b.slices; ++slice) {
      T* const panel =
          static_cast<T*>(b.panel) + (static_cast<long long>(index) * b.slices + slice) * 2 * spinor_numbers * b.rows;
      for (int j = 0; j < a.columns; ++j) {
        const T* const from = in_blocks<const T>(a.in, b, index, j, slice);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 2 * spinor_numbers; ++n) panel[n * b.rows + a.direction + j] = from[n];
      }
    }
  }
};

/// Column i of T with (V T)^+ V T = 1 in place of P^+ V_i, for the Gram matrix V^+ V of a chirality of a block: the
/// inverse of its Cholesky factor. A vector that depends on those before it, but for rounding, is taken as what
/// rounding left of it, and told of. An item is a chirality of a block.
template <class Codec>
struct FactorGram : PanelBody<Codec> {
  using T = typename Codec::Element;

  /// The numbers of a chirality of a block, column by column.
  struct Matrix {
    const Operand& field;
    const FieldPlaces& places;
    int first, chirality;

    QUARKSMITH_INLINE T* number(int i, int j, int& n) const {
      n = chirality * chiral_numbers + i % chiral_numbers;
      return coarse_slice<T>(field, places, first, j, i);
    }
    QUARKSMITH_INLINE Complex<double> operator()(int i, int j) const {
      int n;
      const T* const x = number(i, j, n);
      return {double(x[places.word[2 * n]]), double(x[places.word[2 * n + 1]])};
    }
    QUARKSMITH_INLINE void set(int i, int j, const Complex<double>& z) const {
      int n;
      T* const x = number(i, j, n);
      store_number(places, x, n, T(z.re), T(z.im));
    }
  };

  /// The upper triangle becomes r with r^+ r = V^+ V, the lower one zero.
  static QUARKSMITH_INLINE bool factorise(const Matrix& m, int size) {
    const double least = sizeof(T) == 8 ? 1e-13 : 1e-5;
    bool independent = true;
    for (int i = 0; i < size; ++i) {
      const double norm2 = m(i, i).re, smallest = maximum(least * norm2, 1e-30);
      double pivot = norm2;
      for (int k = 0; k < i; ++k) {
        const Complex<double> r = m(k, i);
        pivot -= r.re * r.re + r.im * r.im;
      }
      independent = independent && pivot > smallest;
      const double root = root_of(maximum(pivot, smallest));
      m.set(i, i, {root, 0});
      for (int j = i + 1; j < size; ++j) {
        Complex<double> sum = m(i, j);
        for (int k = 0; k < i; ++k) {
          const Complex<double> x = m(k, i), y = m(k, j);
          sum.re -= x.re * y.re + x.im * y.im;
          sum.im -= x.re * y.im - x.im * y.re;
        }
        m.set(i, j, {sum.re / root, sum.im / root});
        m.set(j, i, {0, 0});
      }
    }
    return independent;
  }
  /// An upper triangular matrix becomes its inverse, from the last column to the first.
  static QUARKSMITH_INLINE void invert(const Matrix& m, int size) {
    for (int j = size - 1; j >= 0; --j) {
      m.set(j, j, {1 / m(j, j).re, 0});
      for (int i = j - 1; i >= 0; --i) {
        Complex<double> sum{0, 0};
        for (int k = i + 1; k <= j; ++k) {
          const Complex<double> x = m(i, k), y = m(k, j);
          sum.re += x.re * y.re - x.im * y.im;
          sum.im += x.re * y.im + x.im * y.re;
        }
        const double pivot = m(i, i).re;
        m.set(i, j, {-sum.re / pivot, -sum.im / pivot});
      }
    }
  }

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const Matrix m{a.out, b.coarse, b.coarse_first[index / 2], index % 2};
    if (!factorise(m, a.columns)) *b.failed = 1;
    invert(m, a.columns);
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
    PackedRows<T>{static_cast<const T*>(b.panel) + begin,
                  b.packed + begin,
                  b.scale + static_cast<long long>(item) * b.rows,
                  row,
                  has_lanes ? b.rows : row + 1,
                  chiral_numbers,
                  times,
                  apart}
        .pack(b.rows);
  }
};

/// out_c = +- V_j of one chirality, j = c and those that follow, as fields: what P makes of unit vectors. Both begin at
/// number a.direction of the 2 N numbers of a coarse vector; signs alternate in the directions a.skip. An item is a
/// site of a block.
template <class Codec, class Stored>
struct SpreadVectors : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int block = index / b.block_sites;
    const T sign = sign_of<T>(b.odd[block], a.skip);
    for (int slice = 0; slice < b.slices; ++slice) {
      const Stored* const panel =
          panel_of<Stored>(b) + (static_cast<long long>(index) * b.slices + slice) * 2 * spinor_numbers * b.rows;
      for (int c = 0; c < a.columns; ++c) {
        const int number = a.direction + c, n0 = number % spinor_numbers, chirality = n0 / chiral_numbers;
        const int j = number / spinor_numbers * chiral_numbers + n0 % chiral_numbers;
        T factor = sign;
        if constexpr (sizeof(Stored) == 2) factor *= T(b.scale[(2 * block + chirality) * b.rows + j]);
        T* const to = in_blocks<T>(a.out, b, index, c, slice);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 2 * spinor_numbers; ++n)
          to[n] = n / (2 * chiral_numbers) == chirality ? factor * T(panel[n * b.rows + j]) : T(0);
      }
    }
  }
};

/// out = P^+ in, or P^+ (in - x) with the sign of the block in front of x: inner products of the near-null vectors with
/// the fields of a block, each chirality by itself.
template <class Codec, class Stored>
struct Restrict : PanelBody<Codec> {
  using T = typename Codec::Element;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int group, Lanes<double, W>*) {
    each_column_group<Restrict>(a, index, group);
  }

  /// One chirality of a site.
  template <int C>
  static QUARKSMITH_INLINE void load(const Arguments& a, const BlockVectors& b, const T& sign, long long site,
                                     int first, int slice, int chirality, Complex<T> (&x)[C][chiral_numbers]) {
    QUARKSMITH_UNROLL
    for (int c = 0; c < C; ++c) {
      const T* const from = in_blocks<const T>(a.in, b, site, first + c, slice) + chirality * 2 * chiral_numbers;
      QUARKSMITH_UNROLL
      for (int n = 0; n < chiral_numbers; ++n) x[c][n] = {from[2 * n], from[2 * n + 1]};
      if (a.x.data == nullptr) continue;
      const T* const other = in_blocks<const T>(a.x, b, site, first + c, slice) + chirality * 2 * chiral_numbers;
      QUARKSMITH_UNROLL
      for (int n = 0; n < chiral_numbers; ++n) {
        x[c][n].re -= sign * other[2 * n];
        x[c][n].im -= sign * other[2 * n + 1];
      }
    }
  }

  template <int C>
  static QUARKSMITH_INLINE void columns(const Arguments& a, int index, int first) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int block = has_lanes ? index : index / (2 * b.rows), row = has_lanes ? 0 : index % b.rows;
    const int first_chirality = has_lanes ? 0 : index / b.rows % 2, last_chirality = has_lanes ? 1 : first_chirality;
    const int groups = has_lanes ? (b.rows + panel_lanes - 1) / panel_lanes : 1;
    const T sign = a.x.data != nullptr ? sign_of<T>(b.odd[block], a.skip) : T(0);
    PanelRows<T> re[2][most_groups][C], im[2][most_groups][C];
    for (int chirality = first_chirality; chirality <= last_chirality; ++chirality)
      for (int t = 0; t < groups; ++t)
        for (int c = 0; c < C; ++c) re[chirality][t][c] = im[chirality][t][c] = PanelRows<T>{};
    for (int k = 0; k < b.sites; ++k) {
      const long long site = static_cast<long long>(block) * b.block_sites + (b.site != nullptr ? b.site[k] : k);
      for (int slice = 0; slice < b.slices; ++slice) {
        for (int chirality = first_chirality; chirality <= last_chirality; ++chirality) {
          Complex<T> x[C][chiral_numbers];
          load(a, b, sign, site, first, slice, chirality, x);
          const Stored* panel =
              panel_of<Stored>(b) + ((site * b.slices + slice) * 2 + chirality) * 2 * chiral_numbers * b.rows + row;
          for (int t = 0; t < groups; ++t, panel += panel_lanes)
            add_panel<true>(panel, b.rows, x, re[chirality][t], im[chirality][t]);
        }
      }
    }
    const int last = b.coarse.slices * chiral_numbers;
    for (int chirality = first_chirality; chirality <= last_chirality; ++chirality)
      for (int t = 0; t < groups; ++t)
        for (int lane = 0; lane < panel_lanes; ++lane) {
          const int j = row + t * panel_lanes + lane;
          if (j >= last) continue;
          T scale = 1;
          if constexpr (sizeof(Stored) == 2) scale = T(b.scale[(2 * block + chirality) * b.rows + j]);
          for (int c = 0; c < C; ++c)
            store_number(b.coarse, coarse_slice<T>(a.out, b.coarse, b.coarse_first[block], first + c, j),
                         chirality * chiral_numbers + j % chiral_numbers, scale * get_lane(re[chirality][t][c], lane),
                         scale * get_lane(im[chirality][t][c], lane));
        }
  }
};

/// out = P in. An item is a block with lanes, else a site of one.
template <class Codec, class Stored>
struct Prolong : PanelBody<Codec> {
  using T = typename Codec::Element;

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int group, Lanes<double, W>*) {
    each_column_group<Prolong>(a, index, group);
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

  /// The vectors of a block, where an item takes the whole block; else read where they are needed.
  template <int C>
  struct Coarse {
    PanelRows<T> re[2][most_groups][C], im[2][most_groups][C];

    QUARKSMITH_INLINE void load(const Arguments& a, const BlockVectors& b, int block, int first, int groups) {
      for (int chirality = 0; chirality < 2; ++chirality)
        for (int j = 0; j < groups * panel_lanes; ++j)
          for (int c = 0; c < C; ++c) {
            const Complex<T> z = number(a, b, block, first + c, chirality, j);
            set_lane(re[chirality][j / panel_lanes][c], j % panel_lanes, z.re);
            set_lane(im[chirality][j / panel_lanes][c], j % panel_lanes, z.im);
          }
    }
    QUARKSMITH_INLINE void get(const Arguments& a, const BlockVectors& b, int block, int first, int chirality, int j,
                               PanelRows<T> (&x_re)[C], PanelRows<T> (&x_im)[C]) const {
      QUARKSMITH_UNROLL
      for (int c = 0; c < C; ++c) {
        if constexpr (has_lanes) {
          x_re[c] = re[chirality][j / panel_lanes][c];
          x_im[c] = im[chirality][j / panel_lanes][c];
        } else {
          const Complex<T> z = number(a, b, block, first + c, chirality, j);
          x_re[c] = z.re;
          x_im[c] = z.im;
        }
      }
    }
  };

  /// Neighbouring rows that are read at once: a register of them, or a vector load of a thread.
  static constexpr int together = has_lanes ? 1 : panel_rows;
  struct alignas(has_lanes ? alignof(Stored) : 16) Rows {
    Stored row[together];
  };
  static QUARKSMITH_INLINE void load_rows(const Stored* from, PanelRows<T> (&v)[together]) {
    if constexpr (has_lanes) {
      v[0] = panel_load<T>(from);
    } else {
      const Rows rows = *reinterpret_cast<const Rows*>(from);
      QUARKSMITH_UNROLL
      for (int k = 0; k < together; ++k) v[k] = T(rows.row[k]);
    }
  }

  /// One chirality of a slice of a site.
  template <int C>
  static QUARKSMITH_INLINE void add_up(const Arguments& a, const BlockVectors& b, const Coarse<C>& coarse, int block,
                                       int first, int slice, int chirality, long long site) {
    const Stored* const panel =
        panel_of<Stored>(b) + ((site * b.slices + slice) * 2 + chirality) * 2 * chiral_numbers * b.rows;
    PanelRows<T> re[C][chiral_numbers] = {}, im[C][chiral_numbers] = {};
    for (int j = 0; j < b.rows; j += together * panel_lanes) {
      PanelRows<T> x_re[together][C], x_im[together][C];
      QUARKSMITH_UNROLL
      for (int k = 0; k < together; ++k) coarse.get(a, b, block, first, chirality, j + k, x_re[k], x_im[k]);
      QUARKSMITH_UNROLL
      for (int n = 0; n < chiral_numbers; ++n) {
        const Stored* const at = panel + n * 2 * b.rows + j;
        PanelRows<T> v_re[together], v_im[together];
        load_rows(at, v_re);
        load_rows(at + b.rows, v_im);
        QUARKSMITH_UNROLL
        for (int k = 0; k < together; ++k) {
          QUARKSMITH_UNROLL
          for (int c = 0; c < C; ++c) {
            re[c][n] = re[c][n] + v_re[k] * x_re[k][c] - v_im[k] * x_im[k][c];
            im[c][n] = im[c][n] + v_re[k] * x_im[k][c] + v_im[k] * x_re[k][c];
          }
        }
      }
    }
    QUARKSMITH_UNROLL
    for (int c = 0; c < C; ++c) {
      T* const to = in_blocks<T>(a.out, b, site, first + c, slice) + chirality * 2 * chiral_numbers;
      QUARKSMITH_UNROLL
      for (int n = 0; n < chiral_numbers; ++n) {
        to[2 * n] = sum_of_lanes<panel_lanes, T>(re[c][n]);
        to[2 * n + 1] = sum_of_lanes<panel_lanes, T>(im[c][n]);
      }
    }
  }

  template <int C>
  static QUARKSMITH_INLINE void columns(const Arguments& a, int index, int first) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int block = has_lanes ? index : index / b.block_sites;
    const int begin = has_lanes ? 0 : index % b.block_sites, end = has_lanes ? b.block_sites : begin + 1;
    Coarse<C> coarse;
    if constexpr (has_lanes) coarse.load(a, b, block, first, (b.rows + panel_lanes - 1) / panel_lanes);
    for (int s = begin; s < end; ++s)
      for (int slice = 0; slice < b.slices; ++slice) {
        for (int chirality = 0; chirality < 2; ++chirality)
          add_up(a, b, coarse, block, first, slice, chirality, static_cast<long long>(block) * b.block_sites + s);
      }
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
