/// \file
/// Common parts of kernels of coarse lattices and of transfers to them: products of dense matrices and vectors.
///
/// Rows of matrices are contiguous (coarse_records.hpp). With SIMD lanes an item is a block, or coarse site, and rows
/// are worked on as vectors; elsewhere an item is a few rows, or numbers, and neighbouring threads share the columns.
/// a.rhs counts groups of panel_columns of the a.columns right-hand sides that an item takes (all with lanes), a.count
/// items.
#pragma once

#include <type_traits>

#include "runtime/kernels/coarse_records.hpp"

namespace quarksmith::QUARKSMITH_TARGET {

/// Numbers of a register (runtime/targets/cpu/kernel.hpp); not used where work items are threads.
template <class T>
extern const int full_lanes;

/// Rows that an item takes together, such groups that it works on, and items that share the work on them. A vector of
/// several registers would be multiplied by numbers that compilers spread over it one by one.
template <class T>
inline constexpr int panel_lanes = has_lanes ? full_lanes<T> : item_rows;
template <class T>
inline constexpr int most_groups = has_lanes ? (most_vectors + panel_lanes<T> - 1) / panel_lanes<T> : 1;
inline constexpr int panel_parts = has_lanes ? 1 : item_parts;

/// Operations of the threads of a warp, where work items are threads: runtime/targets/NAME/warp.hpp.
template <class T>
struct Warp;

/// Rows of a thread.
template <class T>
struct ThreadRows {
  T row[item_rows];

  QUARKSMITH_INLINE ThreadRows& operator+=(const ThreadRows& b) {
    QUARKSMITH_UNROLL
    for (int i = 0; i < item_rows; ++i) row[i] += b.row[i];
    return *this;
  }
  friend QUARKSMITH_INLINE ThreadRows operator+(ThreadRows a, const ThreadRows& b) { return a += b; }
  friend QUARKSMITH_INLINE ThreadRows operator-(ThreadRows a, const ThreadRows& b) { return a += b * T(-1); }
  friend QUARKSMITH_INLINE ThreadRows operator*(ThreadRows a, const T& b) {
    QUARKSMITH_UNROLL
    for (int i = 0; i < item_rows; ++i) a.row[i] *= b;
    return a;
  }
};
template <class T>
using PanelRows = std::conditional_t<has_lanes, Lanes<T, panel_lanes<T>>, ThreadRows<T>>;
template <class T>
QUARKSMITH_INLINE T get_lane(const ThreadRows<T>& v, int i) {
  return v.row[i];
}

/// Numbers that a thread loads or stores at once.
template <class T>
struct alignas(16) Chunk {
  T number[16 / sizeof(T)];
};
/// N numbers, aligned to 16 bytes.
template <int N, class T>
QUARKSMITH_INLINE void load_numbers(const T* from, T (&to)[N]) {
  constexpr int chunk = has_lanes ? 1 : 16 / sizeof(T);
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; n += chunk) {
    if constexpr (has_lanes) {
      to[n] = from[n];
    } else {
      const Chunk<T> c = *reinterpret_cast<const Chunk<T>*>(from + n);
      QUARKSMITH_UNROLL
      for (int i = 0; i < chunk; ++i) to[n + i] = c.number[i];
    }
  }
}
template <int N, class T>
QUARKSMITH_INLINE void store_numbers(T* to, const T (&from)[N]) {
  constexpr int chunk = has_lanes ? 1 : 16 / sizeof(T);
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; n += chunk) {
    if constexpr (has_lanes) {
      to[n] = from[n];
    } else {
      Chunk<T> c;
      QUARKSMITH_UNROLL
      for (int i = 0; i < chunk; ++i) c.number[i] = from[n + i];
      *reinterpret_cast<Chunk<T>*>(to + n) = c;
    }
  }
}

/// Rows of a column, of integers without their factor.
template <class T, class Stored>
QUARKSMITH_INLINE PanelRows<T> panel_load(const Stored* from) {
  if constexpr (!has_lanes) {
    struct alignas(sizeof(Stored) * item_rows < 16 ? sizeof(Stored) * item_rows : 16) Together {
      Stored row[item_rows];
    };
    const Together stored = *reinterpret_cast<const Together*>(from);
    PanelRows<T> rows;
    QUARKSMITH_UNROLL
    for (int i = 0; i < item_rows; ++i) rows.row[i] = T(stored.row[i]);
    return rows;
  } else if constexpr (sizeof(Stored) == 2) {
    return convert<T, panel_lanes<T>>(convert<int, panel_lanes<T>>(load_lanes<Stored, panel_lanes<T>>(from)));
  } else {
    return load_lanes<Stored, panel_lanes<T>>(from);
  }
}
/// Loads only the first `count` rows, if there are fewer.
template <class T>
QUARKSMITH_INLINE void panel_store(T* to, const PanelRows<T>& v, int count) {
  if constexpr (has_lanes) {
    if (count >= panel_lanes<T>) {
      __builtin_memcpy(to, &v, sizeof(v));
      return;
    }
  }
  QUARKSMITH_UNROLL
  for (int i = 0; i < panel_lanes<T>; ++i)
    if (i < count) to[i] = get_lane(v, i);
}
/// The sum over the work items that share a group of rows.
template <class T>
QUARKSMITH_INLINE void add_parts(PanelRows<T>& v) {
  if constexpr (!has_lanes) {
    QUARKSMITH_UNROLL
    for (int i = 0; i < item_rows; ++i) v.row[i] = sum_of_threads<item_parts>(v.row[i]);
  }
}
/// The array of a record with matrices of this storage type.
template <class Stored, class Record>
QUARKSMITH_INLINE Stored* panel_of(const Record& r) {
  if constexpr (sizeof(Stored) == 2) {
    return r.packed;
  } else {
    return static_cast<Stored*>(r.panel);
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
/// A slice of a site in a field in the order of sites (CoarseSites).
template <class T>
QUARKSMITH_INLINE T* in_order_of_sites(const Operand& f, int rhs, int slice) {
  return static_cast<T*>(f.data) + rhs * f.rhs_stride + static_cast<long long>(slice) * 2 * spinor_numbers;
}
template <int N, class T>
QUARKSMITH_INLINE void load_complex(const T* from, Complex<T> (&to)[N]) {
  T numbers[2 * N];
  load_numbers(from, numbers);
  QUARKSMITH_UNROLL
  for (int n = 0; n < N; ++n) to[n] = {numbers[2 * n], numbers[2 * n + 1]};
}
/// Number j of a chirality of a coarse vector.
template <class T>
QUARKSMITH_INLINE T* coarse_slice(const Operand& f, const FieldPlaces& places, int first, int rhs, int j) {
  return slice_of<T>(f, places, first, rhs, j / chiral_numbers);
}

/// The factor of a block in a pattern (one_colour): its sign, or 1 for blocks of one colour and 0 for others.
template <class T>
QUARKSMITH_INLINE T sign_of(unsigned odd, int pattern) {
  if (pattern & one_colour) return odd == unsigned(pattern - one_colour) ? T(1) : T(0);
  unsigned bits = odd & unsigned(pattern);
  bits ^= bits >> 2;
  bits ^= bits >> 1;
  return bits & 1 ? T(-1) : T(1);
}

/// Adds m x, or conj(m) x, to re and im.
template <bool Conjugate, class T>
QUARKSMITH_INLINE void add_column(const PanelRows<T>& m_re, const PanelRows<T>& m_im, const T& x_re, const T& x_im,
                                  PanelRows<T>& re, PanelRows<T>& im) {
  re = re + m_re * x_re;
  im = im + m_re * x_im;
  re = Conjugate ? re + m_im * x_im : re - m_im * x_im;
  im = Conjugate ? im - m_im * x_re : im + m_im * x_re;
}

/// The same of `Numbers` columns of a panel, for C vectors.
template <bool Conjugate, int Numbers, int C, class T, class Stored>
QUARKSMITH_INLINE void add_panel(const Stored* panel, int rows, const Complex<T> (&x)[C][Numbers],
                                 PanelRows<T> (&re)[C], PanelRows<T> (&im)[C]) {
  QUARKSMITH_UNROLL
  for (int n = 0; n < Numbers; ++n) {
    const PanelRows<T> m_re = panel_load<T>(panel + 2 * n * rows), m_im = panel_load<T>(panel + (2 * n + 1) * rows);
    QUARKSMITH_UNROLL
    for (int c = 0; c < C; ++c) add_column<Conjugate, T>(m_re, m_im, x[c][n].re, x[c][n].im, re[c], im[c]);
  }
}

/// The same of so many columns, with the numbers of x where they lie. With lanes: each column is read once, and spread
/// numbers come from a cache.
template <bool Conjugate, int C, class T, class Stored>
QUARKSMITH_INLINE void add_columns(const Stored* panel, int rows, int columns, const T* const (&x)[C],
                                   PanelRows<T> (&re)[C], PanelRows<T> (&im)[C]) {
  for (int n = 0; n < columns; ++n, panel += 2 * rows) {
    const PanelRows<T> m_re = panel_load<T>(panel), m_im = panel_load<T>(panel + rows);
    QUARKSMITH_UNROLL
    for (int c = 0; c < C; ++c) add_column<Conjugate, T>(m_re, m_im, x[c][2 * n], x[c][2 * n + 1], re[c], im[c]);
  }
}

/// Calls finish(row, column, re, im) for the first `count` rows of sums. With lanes.
template <class T, int C, class Finish>
QUARKSMITH_INLINE void each_row(const PanelRows<T> (&re)[C], const PanelRows<T> (&im)[C], int count,
                                const Finish& finish) {
  T sums[2][C][panel_lanes<T>];
  __builtin_memcpy(sums[0], re, sizeof re);
  __builtin_memcpy(sums[1], im, sizeof im);
  for (int row = 0; row < panel_lanes<T> && row < count; ++row)
    for (int c = 0; c < C; ++c) finish(row, c, sums[0][c][row], sums[1][c][row]);
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

template <class T>
QUARKSMITH_INLINE int nearest_of(T a) {
  return int(a < T(0) ? a - T(0.5) : a + T(0.5));
}

/// Conversion of rows of matrices to 16 bits, with a factor for each row, determined by its largest number.
template <class T>
struct PackedRows {
  const T* from;
  short* to;
  float* scale;
  int first, end;      ///< rows to work on
  int columns, times;  ///< of a group, and groups
  long long apart;     ///< numbers from a group to the next

  /// Sets the factor of row r, of integers in this unit up to `largest` of them. \return what its numbers are
  /// multiplied with.
  QUARKSMITH_INLINE T factor_of(int r, int rows, int largest = most_short, int unit = 1) const {
    T most = 0;
    for (int g = 0; g < times; ++g)
      for (int k = 0; k < 2 * columns; ++k) most = maximum(most, absolute(from[g * apart + k * rows + r]));
    scale[r] = float(most * T(unit) / T(largest));
    return most > T(0) ? T(largest) / most : T(0);
  }
  QUARKSMITH_INLINE void pack(int rows) const {
    for (int r = first; r < end; ++r) {
      const T factor = factor_of(r, rows);
      for (int g = 0; g < times; ++g)
        for (int k = 0; k < 2 * columns; ++k)
          to[g * apart + k * rows + r] = short(nearest_of(from[g * apart + k * rows + r] * factor));
    }
  }
};

}  // namespace quarksmith::QUARKSMITH_TARGET
