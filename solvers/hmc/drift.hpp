/// \file
/// How far U' = exp(step P) U takes links, for callers that may pass any step and momenta.
#pragma once

#include <cmath>

#include "runtime/lattice/lattice.hpp"

namespace quarksmith {

/// Of a link, in quadratic mean: farther exp(step P) has few digits left.
inline constexpr double most_way = 1e6;

/// |step P| of a link in quadratic mean. \param lattice of the momenta. \param kinetic sum -tr P^2 over the whole one.
inline double mean_way(const Lattice& lattice, double kinetic, double step) {
  return std::abs(step) * std::sqrt(kinetic / double(directions * lattice.global_sites()));
}

}  // namespace quarksmith
