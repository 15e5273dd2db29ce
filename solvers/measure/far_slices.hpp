/// \file
/// Time slices on which a propagator is larger than its error, given the residual of its solve.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solvers/measure/propagator.hpp"

namespace quarksmith {

/// The sums of |S|^2 over each time slice of the whole lattice. Collective.
std::vector<double> slice_norms(const Propagator& s);

/// Number of time slices from the source up to which a propagator is known.
struct FarSlices {
  /// Required relative accuracy of |S|; the error of two-point functions is twice as large.
  static constexpr double accuracy = 0.005;
  int known, farthest;  ///< slices from the source that are known to `accuracy`; farthest slice of the lattice
  double decay;         ///< decrease of log |S| from slice to slice, where it is known
  /// The residual with which the farthest slice would be known, and the farthest slice known with a given residual, if
  /// S continues to fall like this.
  double needed() const;
  int known_with(double residual) const;
};
/// The error of S is M^-1 r, estimated as |r| / |b| times S at the source on all slices, since it is not known where r
/// is largest. None: S is larger than this everywhere. \param norms slice_norms. \param residual |r| / |b|.
std::optional<FarSlices> far_slices(std::span<const double> norms, double residual);

}  // namespace quarksmith
