/// \file
/// Kernels that factorise and invert the matrices of blocks and coarse sites.
#pragma once

#include "runtime/kernels/coarse_panels.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Replaces the Gram matrix V^+ V of a chirality of a block by T with (V T)^+ V T = 1, the inverse of its Cholesky
/// factor. A vector that depends on earlier ones up to rounding is kept, and reported as failed. A work item is a
/// chirality of a block.
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

  /// Replaces the upper triangle by r with r^+ r = V^+ V, the lower one by zero.
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
  /// Inverts an upper triangular matrix in place, from the last column to the first.
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

/// Inverts matrices a.direction and the following ones of each site in place, by Gauss-Jordan elimination with the
/// largest pivot of a column. Work items of a site share its rows.
template <class Codec>
struct InvertMatrices : PanelBody<Codec> {
  using T = typename Codec::Element;
  static constexpr int parts = has_lanes ? 1 : warp_size, most = 2 * most_vectors / parts;

  static QUARKSMITH_INLINE void swap(T& a, T& b) {
    const T c = a;
    a = b;
    b = c;
  }
  static QUARKSMITH_INLINE T norm2(const T* column, int stored, int i) {
    return column[i] * column[i] + column[stored + i] * column[stored + i];
  }
  /// Row of the largest number of a column from row k on; -1 if all vanish.
  static QUARKSMITH_INLINE int largest(const T* column, int stored, int size, int k, int part) {
    T best = 0;
    int at = -1;
    for (int i = part; i < size; i += parts)
      if (const T here = norm2(column, stored, i); i >= k && here > best) {
        best = here;
        at = i;
      }
    if constexpr (!has_lanes) {
      for (int bits = 1; bits < parts; bits *= 2) {
        const T other = Warp<T>::across(best, bits);
        const int there = Warp<T>::across(at, bits);
        if (other > best || (other == best && there < at)) {
          best = other;
          at = there;
        }
      }
    }
    return at;
  }
  /// Number j of those that the work items of a site have together.
  static QUARKSMITH_INLINE T number_of(const T& mine, int j) {
    if constexpr (has_lanes) {
      return mine;
    } else {
      return Warp<T>::of(mine, j);
    }
  }
  /// Subtracts multiples of column k from the others to eliminate row k, and stores the elements of the inverse in
  /// their place.
  static QUARKSMITH_INLINE void eliminate(T* matrix, int stored, int size, int k, int part) {
    T* const pivot = matrix + 2LL * k * stored;
    const T norm = norm2(pivot, stored, k), inv_re = pivot[k] / norm, inv_im = -pivot[stored + k] / norm;
    T f_re[most], f_im[most], c_re[most], c_im[most];  // of columns part, part + parts, ...; of such rows of column k
    for (int q = 0; q < most; ++q) {
      const int j = part + q * parts;
      if (j >= size) continue;
      const T re = matrix[2LL * j * stored + k], im = matrix[(2LL * j + 1) * stored + k];
      f_re[q] = re * inv_re - im * inv_im;
      f_im[q] = re * inv_im + im * inv_re;
      c_re[q] = pivot[j];
      c_im[q] = pivot[stored + j];
    }
    in_turns();
    QUARKSMITH_UNROLL
    for (int q = 0; q < most; ++q)
      for (int l = 0; l < parts && q * parts + l < size; ++l) {
        const int j = q * parts + l;
        const T re = number_of(f_re[q], l), im = number_of(f_im[q], l);
        T* const column = matrix + 2LL * j * stored;
        if (j == k) continue;
        for (int r = 0; r < most; ++r) {
          const int i = part + r * parts;
          if (i >= size) continue;
          column[i] = i == k ? re : column[i] - (c_re[r] * re - c_im[r] * im);
          column[stored + i] = i == k ? im : column[stored + i] - (c_re[r] * im + c_im[r] * re);
        }
      }
    for (int r = 0; r < most; ++r) {
      const int i = part + r * parts;
      if (i >= size) continue;
      pivot[i] = i == k ? inv_re : c_im[r] * inv_im - c_re[r] * inv_re;
      pivot[stored + i] = i == k ? inv_im : -(c_re[r] * inv_im + c_im[r] * inv_re);
    }
  }

  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    const Stencil& s = *static_cast<const Stencil*>(a.matrix);
    const int size = s.places.slices * spinor_numbers, stored = s.rows, part = index % parts;
    T* const matrix = static_cast<T*>(s.panel) + 2LL * (a.direction + index / parts) * size * stored;
    short row[2 * most_vectors];  // the row exchanged with row k
    for (int k = 0; k < size; ++k) {
      T* const pivots = matrix + 2LL * k * stored;
      const int p = largest(pivots, stored, size, k, part);
      row[k] = short(p);
      if (p < 0) {
        *s.failed = 1;
        return;
      }
      in_turns();
      for (int j = part; p != k && j < size; j += parts) {
        T* const column = matrix + 2LL * j * stored;
        swap(column[k], column[p]);
        swap(column[stored + k], column[stored + p]);
      }
      in_turns();
      eliminate(matrix, stored, size, k, part);
      in_turns();
    }
    for (int k = size - 1; k >= 0; --k)
      for (int i = part; row[k] != k && i < 2 * stored; i += parts)
        swap(matrix[2LL * k * stored + i], matrix[2LL * row[k] * stored + i]);
  }
};

/// A step of Gauss-Jordan elimination on a matrix of blocks, which couple every site to every other: a.direction is the
/// pivot, whose block is already its inverse D. With lanes a work item is a block, else a few rows of a column of one.
template <class Codec>
struct BlockElimination : PanelBody<Codec> {
  using T = typename Codec::Element;

  const Stencil& s;
  T* scratch;  ///< the column A_ik of blocks, then the row D A_kj
  int size, blocks, pivot;

  QUARKSMITH_INLINE explicit BlockElimination(const Arguments& a)
      : s(*static_cast<const Stencil*>(a.matrix)),
        scratch(static_cast<T*>(a.out.data)),
        size(s.places.slices * spinor_numbers),
        blocks(s.points),
        pivot(a.direction) {}

  QUARKSMITH_INLINE long long numbers() const { return 2LL * size * s.rows; }
  QUARKSMITH_INLINE T* block(int i, int j) const { return static_cast<T*>(s.panel) + (i * blocks + j) * numbers(); }
  QUARKSMITH_INLINE T* column_of(int i) const { return scratch + i * numbers(); }
  QUARKSMITH_INLINE T* row_of(int j) const { return scratch + (blocks + j) * numbers(); }

  /// Columns that a work item treats together.
  static constexpr int together = has_lanes ? panel_columns : 1;
  struct Sums {
    PanelRows<T> re[together] = {}, im[together] = {};
  };

  /// Calls visit(block, first column, row) for the groups of rows of an item.
  template <class Visit>
  QUARKSMITH_INLINE void for_rows(int index, const Visit& visit) const {
    if constexpr (has_lanes) {
      for (int row = 0; row < size; row += panel_lanes<T>)
        for (int c = 0; c < size; c += together) visit(index, c, row);
    } else {
      const int groups = s.rows / item_rows;
      visit(index / groups / size, index / groups % size, index % groups * item_rows);
    }
  }
  /// Rows of `left` times columns.
  QUARKSMITH_INLINE Sums multiply(const T* left, const T* columns, int row) const {
    Sums sums;
    for (int m = 0; m < size; m += spinor_numbers) {
      Complex<T> x[together][spinor_numbers];
      QUARKSMITH_UNROLL
      for (int c = 0; c < together; ++c) {
        const T* const from = columns + 2LL * c * s.rows + m;
        QUARKSMITH_UNROLL
        for (int n = 0; n < spinor_numbers; ++n) x[c][n] = {from[n], from[s.rows + n]};
      }
      add_panel<false>(left + 2LL * m * s.rows + row, s.rows, x, sums.re, sums.im);
    }
    return sums;
  }
  /// Calls visit(first row of a column, its sums) for real and imaginary parts.
  template <class Visit>
  QUARKSMITH_INLINE void for_columns(int first, int row, const Sums& sums, const Visit& visit) const {
    QUARKSMITH_UNROLL
    for (int c = 0; c < together; ++c) {
      const long long at = 2LL * (first + c) * s.rows + row;
      visit(at, sums.re[c]);
      visit(at + s.rows, sums.im[c]);
    }
  }
};

/// Stores the column of a step's pivot, and its row times D, in scratch memory.
template <class Codec>
struct TakePivots : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const BlockElimination<Codec> e(a);
    e.for_rows(index, [&](int j, int c, int row) {
      const T *const own = e.block(e.pivot, j), *const from = e.block(j, e.pivot);
      typename BlockElimination<Codec>::Sums sums;
      if (j != e.pivot) sums = e.multiply(e.block(e.pivot, e.pivot), own + 2LL * c * e.s.rows, row);
      e.for_columns(c, row, sums, [&](long long at, const PanelRows<T>& sum) {
        panel_store(e.column_of(j) + at, panel_load<T>(from + at), e.size - row);
        panel_store(e.row_of(j) + at, j == e.pivot ? panel_load<T>(own + at) : sum, e.size - row);
      });
    });
  }
};

/// Eliminates the pivot from all other blocks.
template <class Codec>
struct EliminatePivots : PanelBody<Codec> {
  template <int W>
  static QUARKSMITH_INLINE void site(const Arguments& a, int index, int, Lanes<double, W>*) {
    using T = typename Codec::Element;
    const BlockElimination<Codec> e(a);
    e.for_rows(index, [&](int number, int c, int row) {
      const int i = number / e.blocks, j = number % e.blocks;
      T* const to = e.block(i, j);
      const T* const times = e.row_of(j);
      typename BlockElimination<Codec>::Sums sums;
      if (i != e.pivot) sums = e.multiply(e.column_of(i), times + 2LL * c * e.s.rows, row);
      e.for_columns(c, row, sums, [&](long long at, const PanelRows<T>& sum) {
        const PanelRows<T> before = j == e.pivot ? PanelRows<T>{} : panel_load<T>(to + at);
        panel_store(to + at, i == e.pivot ? panel_load<T>(times + at) : before - sum, e.size - row);
      });
    });
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
