/// \file
/// Small complex matrices on the host: the coefficients of block methods.
#pragma once

#include <optional>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// A complex matrix, row by row.
struct Dense {
  int rows = 0, columns = 0;
  std::vector<Complex64> element;

  Dense() = default;
  Dense(int r, int c) : rows(r), columns(c), element(static_cast<std::size_t>(r) * c) {}
  static Dense identity(int n);
  Complex64& operator()(int i, int j) { return element[static_cast<std::size_t>(i) * columns + j]; }
  const Complex64& operator()(int i, int j) const { return element[static_cast<std::size_t>(i) * columns + j]; }
};

Dense operator*(const Dense& a, const Dense& b);
Dense operator*(double a, const Dense& b);
Dense adjoint(const Dense& a);
/// Euclidean norm of each column.
std::vector<double> column_norms(const Dense& a);

/// Z = Q S by the Gram matrix of Z, with Q^+ Q = 1: Q = Z T.
struct RankRevealing {
  Dense t;           ///< columns of Z x rank
  Dense s;           ///< rank x columns of Z
  double pivots[2];  ///< the smallest that was taken, and the largest, of columns scaled to unit length if so asked
};

/// Cholesky factorisation of a Hermitian matrix with diagonal pivoting (N. J. Higham, Accuracy and Stability of
/// Numerical Algorithms, 2nd ed., section 10.3). Pivots below `cut` times the largest count as zero: their columns
/// depend on the others. \param scaled columns of Z are scaled to unit length first.
RankRevealing factorise(const Dense& gram, double cut, bool scaled);

/// The inverse of any square matrix, and log |det|.
struct Inverse {
  Dense matrix;
  double log_det = 0;
};
/// By elimination with row pivoting. \return empty if it is singular to working accuracy.
std::optional<Inverse> inverse_of(const Dense& a);

/// The inverse of a Hermitian matrix. \return empty if it is not positive definite to working accuracy.
Dense inverse_of_positive(const Dense& a);

}  // namespace quarksmith
