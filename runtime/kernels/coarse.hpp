/// \file
/// Kernels between a lattice and that of its blocks, and on the latter: products of dense matrices and vectors.
///
/// Rows of matrices are contiguous (coarse_records.hpp). With SIMD lanes an item is a block, or coarse site, and rows
/// are worked on as vectors; elsewhere an item is one row, for which a thread accounts, or a site. a.rhs counts groups
/// of panel_columns of the a.columns right-hand sides that an item takes (all with lanes), a.count items.
#pragma once

#include "runtime/kernels/coarse_records.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Rows that an item takes together, and such groups that it works on.
inline constexpr int panel_lanes = has_lanes ? 16 : 1;
inline constexpr int most_groups = has_lanes ? 2 * most_vectors / panel_lanes : 1;

template <class T>
using PanelRows = Lanes<T, panel_lanes>;

/// Rows of a column, of integers without their factor.
template <class T, class Stored>
QUARKSMITH_INLINE PanelRows<T> panel_load(const Stored* from) {
  if constexpr (!has_lanes) {
    return T(*from);
  } else if constexpr (sizeof(Stored) == 2) {
    return convert<T, panel_lanes>(convert<int, panel_lanes>(load_lanes<Stored, panel_lanes>(from)));
  } else {
    return load_lanes<Stored, panel_lanes>(from);
  }
}
/// Which of two arrays holds matrices that are stored so.
template <class Stored, class Record>
QUARKSMITH_INLINE Stored* panel_of(const Record& r) {
  if constexpr (sizeof(Stored) == 2) {
    return r.packed;
  } else {
    return static_cast<Stored*>(r.panel);
  }
}
/// The factor of rows of integers; 1 for other numbers.
template <class T, class Stored>
QUARKSMITH_INLINE PanelRows<T> panel_scale(const float* scale) {
  if constexpr (sizeof(Stored) != 2) {
    return broadcast<PanelRows<T>>(1);
  } else if constexpr (has_lanes) {
    return convert<T, panel_lanes>(load_lanes<float, panel_lanes>(scale));
  } else {
    return T(*scale);
  }
}

/// The sum of `Count` lanes, by halves.
template <int Count, class T>
QUARKSMITH_INLINE T sum_of_lanes(const Lanes<T, Count>& v) {
  if constexpr (Count == 1) {
    return v;
  } else if constexpr (Count == 2) {
    return v[0] + v[1];
  } else {
    Lanes<T, Count / 2> half[2];
    __builtin_memcpy(half, &v, sizeof v);
    return sum_of_lanes<Count / 2, T>(half[0] + half[1]);
  }
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
/// Number j of a chirality of a coarse vector.
template <class T>
QUARKSMITH_INLINE T* coarse_slice(const Operand& f, const FieldPlaces& places, int first, int rhs, int j) {
  return slice_of<T>(f, places, first, rhs, j / chiral_numbers);
}

/// The sign of a block in a pattern that alternates in some directions.
template <class T>
QUARKSMITH_INLINE T sign_of(unsigned odd, int directions_that_alternate) {
  unsigned bits = odd & unsigned(directions_that_alternate);
  bits ^= bits >> 2;
  bits ^= bits >> 1;
  return bits & 1 ? T(-1) : T(1);
}

/// sums[c] += m x[c] for `Numbers` columns, or with the conjugate of m.
template <bool Conjugate, int Numbers, int C, class T, class Stored>
QUARKSMITH_INLINE void add_panel(const Stored* panel, int rows, const Complex<T> (&x)[C][Numbers],
                                 PanelRows<T> (&re)[C], PanelRows<T> (&im)[C]) {
  QUARKSMITH_UNROLL
  for (int n = 0; n < Numbers; ++n) {
    const PanelRows<T> m_re = panel_load<T>(panel + 2 * n * rows), m_im = panel_load<T>(panel + (2 * n + 1) * rows);
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

/// Calls body.columns<C>(a, index, first) for right-hand sides first ... first + C - 1: of a group, or for all.
template <class Body>
QUARKSMITH_INLINE void each_column_group(const Arguments& a, int index, int group) {
  int first = group * panel_columns, left = a.columns - first;
  for (; has_lanes && left > panel_columns; first += panel_columns, left -= panel_columns)
    Body::template columns<panel_columns>(a, index, first);
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
      T* const panel = static_cast<T*>(b.panel) +
                       (static_cast<long long>(index) * b.slices + slice) * 2 * spinor_numbers * b.rows;
      for (int j = 0; j < a.columns; ++j) {
        const T* const from = in_blocks<const T>(a.in, b, index, j, slice);
        QUARKSMITH_UNROLL
        for (int n = 0; n < 2 * spinor_numbers; ++n) panel[n * b.rows + a.direction + j] = from[n];
      }
    }
  }
};

template <class T>
QUARKSMITH_INLINE int nearest_of(T a) {
  return int(a < T(0) ? a - T(0.5) : a + T(0.5));
}

/// Rows of matrices to 16 bits, with the factor that leaves the largest of them unharmed.
template <class T>
struct PackedRows {
  const T* from;
  short* to;
  float* scale;
  int first, end;      ///< rows to work on
  int columns, times;  ///< of a group, and groups
  long long apart;     ///< numbers from a group to the next

  QUARKSMITH_INLINE void pack(int rows) const {
    for (int r = first; r < end; ++r) {
      T most = 0;
      for (int g = 0; g < times; ++g)
        for (int k = 0; k < 2 * columns; ++k) most = maximum(most, absolute(from[g * apart + k * rows + r]));
      const T factor = most > T(0) ? T(most_short) / most : T(0);
      scale[r] = float(most / T(most_short));
      for (int g = 0; g < times; ++g)
        for (int k = 0; k < 2 * columns; ++k)
          to[g * apart + k * rows + r] = short(nearest_of(from[g * apart + k * rows + r] * factor));
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
      const Stored* const panel = panel_of<Stored>(b) + (static_cast<long long>(index) * b.slices + slice) * 2 *
                                                            spinor_numbers * b.rows;
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
          const Stored* panel = panel_of<Stored>(b) +
                                ((site * b.slices + slice) * 2 + chirality) * 2 * chiral_numbers * b.rows + row;
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

/// Columns a.direction and those that follow, of the columns of all points one after the other, += b in, the sign of
/// the site in the pattern a.skip in front. An item is a site.
template <class Codec>
struct AddColumns : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const int rows = s.places.slices * spinor_numbers;
    const T factor = scalar<T>(a.b.re) * sign_of<T>(s.odd[index], a.skip);
    for (int c = 0; c < a.columns; ++c) {
      T* const to = static_cast<T*>(s.panel) +
                    2 * (static_cast<long long>(index) * s.points * rows + a.direction + c) * s.rows;
      for (int i = 0; i < rows; ++i) {
        const T* const x = slice_of<const T>(a.in, s.places, s.first[index], c, i / spinor_numbers);
        to[i] += factor * x[s.places.word[2 * (i % spinor_numbers)]];
        to[s.rows + i] += factor * x[s.places.word[2 * (i % spinor_numbers) + 1]];
      }
    }
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
    const Stored* panel =
        panel_of<Stored>(s) + 2LL * site * s.points * f.slices * spinor_numbers * s.rows + row;
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
