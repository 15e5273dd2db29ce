/// \file
/// How far from its source a propagator is larger than the error that its residual allows.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solvers/measure/propagator.hpp"

namespace quarksmith {

/// The sum of |S|^2 over a time slice, for each of the whole lattice. Collective.
std::vector<double> slice_norms(const Propagator& s);

/// Time slices, counted from that of the source, beyond which a propagator is lost in its error.
struct FarSlices {
  /// Of |S|: two-point functions are off by twice as much.
  static constexpr double accuracy = 0.005;
  int known, farthest;  ///< with this accuracy; of the lattice
  double decay;         ///< of log |S| from slice to slice, as far as it is known
  /// The residual with which the farthest are known, and the farthest that are known with a residual, if S goes on to
  /// fall like that.
  double needed() const;
  int known_with(double residual) const;
};
/// S is off by M^-1 r, which is about as large as |r| / |b| times S at its source wherever r is; |r| is of the whole
/// lattice. None: S is larger than that everywhere. \param norms slice_norms. \param residual |r| / |b|.
std::optional<FarSlices> far_slices(std::span<const double> norms, double residual);

}  // namespace quarksmith
