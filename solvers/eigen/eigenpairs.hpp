/// \file
/// Eigenvalues and eigenvectors at an end of the spectrum of a positive operator, or of a Hermitian root of one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// Thrown by EigenOptions::look to end a search with the best pairs so far.
struct EndSearch {};

struct EigenOptions {
  int count = 10;
  bool largest = false;     ///< the largest |lambda|, not the smallest
  double tolerance = 1e-8;  ///< of |A v - lambda v| for |v| = 1
  int block = 4;            ///< vectors to which the operator is applied together; 1: the single-vector method
  std::uint64_t seed = 1;   ///< of the first block
  /// Called from time to time with the number of pairs found, and the largest estimated residual that is still above
  /// the tolerance.
  std::function<void(int found, double residual)> observer = {};
  long long most_applications = 0;  ///< limit on applications of the positive operator to one vector; 0: none
  /// Called before each application, by all ranks; an exception that it throws ends the search.
  std::function<void()> look = {};
};

struct Eigenpairs {
  std::vector<double> values;     ///< ascending in modulus
  std::vector<double> residuals;  ///< |A v - lambda v| of each, recomputed
  SpinorField vectors;            ///< orthonormal, as many as values
  long long applications = 0;     ///< of the positive operator to one vector
  bool converged = false;         ///< all residuals meet the tolerance
  bool ended = false;             ///< early, by most_applications or EndSearch; then there may be fewer pairs, or none

  double worst() const;
};

/// Finds the lowest or highest eigenpairs. \param positive A, Hermitian and positive, in double, for options.block
/// right-hand sides. \param root if not null, i H with H Hermitian and H^2 = A: the pairs are those of H.
/// \return the best pairs, even if they miss the tolerance.
/// \throws UsageError more pairs than the space has dimensions, or numbers out of their ranges.
Eigenpairs find_eigenpairs(const LinearOperator& positive, const EigenOptions& options,
                           const LinearOperator* root = nullptr);

}  // namespace quarksmith
