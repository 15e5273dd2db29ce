/// \file
/// Small complex matrices on the host: the coefficients of block methods.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// A complex matrix, row by row as kernels take it.
using Dense = Eigen::Matrix<Complex64, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The decomposition Z = Q S with Q = Z T, Q^+ Q = 1, from the Gram matrix of Z.
struct RankRevealing {
  Dense t;           ///< columns of Z x rank
  Dense s;           ///< rank x columns of Z
  double pivots[2];  ///< the smallest accepted pivot, and the largest
};

/// Cholesky factorisation of a Hermitian matrix with diagonal pivoting by the largest remaining pivot, unlike Eigen's
/// LDLT (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 10.3). Pivots below `cut` times
/// the largest count as zero: their columns depend on the others.
/// \param scaled columns of Z are scaled to unit length first.
RankRevealing factorise(const Dense& gram, double cut, bool scaled);

/// The inverse of any square matrix, and log |det|.
struct Inverse {
  Dense matrix;
  double log_det = 0;
};
/// \return empty if it is singular to working accuracy.
std::optional<Inverse> inverse_of(const Dense& a);

/// The inverse of a Hermitian matrix. \return empty if it is not positive definite to working accuracy.
Dense inverse_of_positive(const Dense& a);

/// The decomposition V diag(values) V^+ of a Hermitian matrix, values ascending.
struct HermitianEigen {
  Eigen::VectorXd values;
  Dense vectors;
};
HermitianEigen eigen_of(const Dense& a);

}  // namespace quarksmith
