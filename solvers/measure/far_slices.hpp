/// \file
/// Time slices on which a propagator is larger than its error, given the residual of its solve.
#pragma once

#include <span>
#include <vector>

#include "solvers/measure/propagator.hpp"

namespace quarksmith {

/// The sums of |S|^2 over each time slice of the whole lattice. Collective.
std::vector<double> slice_norms(const Propagator& s);

/// Required relative accuracy of |S|; the error of two-point functions is twice as large.
constexpr double quark_accuracy = 0.005;
/// Number of time slices from the source up to which a propagator is known to quark_accuracy; half the extent: all.
/// The error of S is M^-1 r, estimated as |r| / |b| times S at the source on all slices, since it is not known where r
/// is largest. \param norms slice_norms. \param residual |r| / |b|.
int known_slices(std::span<const double> norms, double residual);

}  // namespace quarksmith
