/// \file
/// Kernels between a lattice and that of its blocks.
#pragma once

#include "runtime/kernels/coarse_order.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

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
        each_row<T>(re, im, last - row, [&](int lane, int c, T sum_re, T sum_im) {
          finish(a, b, block, chirality, row + lane, first + c, sum_re, sum_im);
        });
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

/// out = P in. With lanes a work item is a block, else a number at some of its sites.
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

  /// Computes number n at item_sites sites of a block, the work of a thread.
  template <int C>
  static QUARKSMITH_INLINE void numbers(const Arguments& a, int index, int first) {
    const BlockVectors& b = *static_cast<const BlockVectors*>(a.matrix);
    const int n = index % spinor_numbers, slice = index / spinor_numbers % b.slices;
    const int together = index / (spinor_numbers * b.slices), groups = (b.sites + item_sites - 1) / item_sites;
    const int block = together / groups, begin = together % groups * item_sites, chirality = n / chiral_numbers;
    const Stored* panel[item_sites];
    QUARKSMITH_UNROLL
    for (int s = 0; s < item_sites; ++s) {  // sites beyond the end repeat the last one
      const int inside = begin + s < b.sites ? begin + s : b.sites - 1;
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
      if (begin + s >= b.sites) continue;
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
      for (int s = 0; s < b.sites; ++s)
        for (int slice = 0; slice < b.slices; ++slice)
          for (int chirality = 0; chirality < 2; ++chirality)
            add_up(a, b, coarse, first, slice, chirality, static_cast<long long>(index) * b.block_sites + s);
    }
  }
};

/// Restriction and prolongation with near-null vectors of this storage type.
template <class Codec, class Stored>
struct Restrict
    : std::conditional_t<!has_lanes && sizeof(Stored) == 2, RestrictTiles<Codec>, RestrictRows<Codec, Stored>> {};
template <class Codec, class Stored>
struct Prolong
    : std::conditional_t<!has_lanes && sizeof(Stored) == 2, ProlongTiles<Codec>, ProlongRows<Codec, Stored>> {};

}  // namespace quarksmith::QUARKSMITH_TARGET
