#include "solvers/solve/checked_norms.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {
namespace {

/// Norms whose squares, and those of what iterations make of them, are exact enough.
constexpr double least = 1e-140, most = 1e140;

/// |factor b|: tells numbers from those whose squares are too small or too large.
double scaled_norm(const Blas& blas, double factor, const SpinorField& b) {
  SpinorField scaled = b.like();
  blas.scale(factor, b, scaled);
  return std::sqrt(blas.norm2(scaled));
}

}  // namespace

std::vector<double> checked_norms(const SpinorField& b) {
  const Blas blas(b);
  std::vector<double> norms = blas.norms2(b);
  for (int n = 0; n < b.rhs(); ++n) {
    norms[n] = std::sqrt(norms[n]);
    if (norms[n] >= least && norms[n] <= most) continue;
    const bool small = norms[n] < least;
    const double scaled = scaled_norm(blas, small ? 1e200 : 1e-200, b.columns(n, 1));
    const std::string which = fmt::format("right-hand side {} of {}", n, b.rhs());
    if (!std::isfinite(scaled))
      throw BadData(which + " holds numbers that are not finite; check its source and its smearing");
    if (scaled == 0)
      throw BadData(which + " is zero, and so is its solution; use a source that is not zero after its smearing");
    throw BadData(fmt::format("{} is too {}: |b| = {:.1e}, and solvers need {:.0e} to {:.0e}; scale it", which,
                              small ? "small" : "large", scaled * (small ? 1e-200 : 1e200), least, most));
  }
  return norms;
}

}  // namespace quarksmith
