/// \file
/// Propagators on a few sites of a row, number by number, for contractions that do the same on each.
#pragma once

#include <algorithm>
#include <vector>

#include "solvers/measure/momenta.hpp"
#include "solvers/measure/quark_columns.hpp"

namespace quarksmith {

// z += a b, z += a conj(b), z -= a b at each site of a row.
inline void add_product(const RowNumber& a, const RowNumber& b, RowNumber& z) {
#pragma omp simd
  for (int w = 0; w < row_sites; ++w) {
    z.re[w] += a.re[w] * b.re[w] - a.im[w] * b.im[w];
    z.im[w] += a.re[w] * b.im[w] + a.im[w] * b.re[w];
  }
}
inline void add_conjugated(const RowNumber& a, const RowNumber& b, RowNumber& z) {
#pragma omp simd
  for (int w = 0; w < row_sites; ++w) {
    z.re[w] += a.re[w] * b.re[w] + a.im[w] * b.im[w];
    z.im[w] += a.im[w] * b.re[w] - a.re[w] * b.im[w];
  }
}
inline void subtract_product(const RowNumber& a, const RowNumber& b, RowNumber& z) {
#pragma omp simd
  for (int w = 0; w < row_sites; ++w) {
    z.re[w] -= a.re[w] * b.re[w] - a.im[w] * b.im[w];
    z.im[w] -= a.re[w] * b.im[w] + a.im[w] * b.re[w];
  }
}
/// z += weight a
inline void add_scaled(Complex64 weight, const RowNumber& a, RowNumber& z) {
  const double c = weight.real(), s = weight.imag();
#pragma omp simd
  for (int w = 0; w < row_sites; ++w) {
    z.re[w] += c * a.re[w] - s * a.im[w];
    z.im[w] += c * a.im[w] + s * a.re[w];
  }
}

/// [12 column + row] of a propagator; 0 where there are fewer sites.
inline void load_row(const Propagator& s, long long first, int sites, RowNumber* to) {
  std::fill(to, to + 144, RowNumber());
  for (int w = 0; w < sites; ++w) {
    const auto& columns = s.site[static_cast<std::size_t>(first) + w];
    for (int column = 0; column < 12; ++column)
      for (int row = 0; row < 12; ++row) {
        to[12 * column + row].re[w] = columns[column][row].real();
        to[12 * column + row].im[w] = columns[column][row].imag();
      }
  }
}

}  // namespace quarksmith
