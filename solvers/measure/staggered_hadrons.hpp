/// \file
/// Hadrons of staggered quarks with local operators, which differ in signs that depend on the coordinates.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "solvers/measure/momenta.hpp"
#include "solvers/measure/propagator.hpp"

namespace quarksmith {

/// A local meson: the sum over some signs (-1)^(sum of the coordinates whose bits are set, x lowest).
struct StaggeredMeson {
  std::string_view name;
  std::vector<int> signs;
};
/// All local mesons: `pion_5`, `pion_05`, `rho_i`, `rho_i0` in MILC's notation, and each single sign: `1`, `x`, `y`,
/// `xy`, ..., `xyzt`.
const std::vector<StaggeredMeson>& staggered_mesons();

/// sum_x exp(i p.(x - x0)) sign(x) sum over colours of B conj(A), A the antiquark, in the order of momentum_sums.
/// Collective; all ranks get the same numbers.
std::vector<Complex64> staggered_meson_sums(const Propagator& a, const Propagator& b,
                                            std::span<const StaggeredMeson> mesons, const MomentumPhases& phases);
/// The sum over sites whose x, y and z are even of det X, colours of sink and source (eps eps' X X X / 6).
std::vector<Complex64> staggered_nucleon_sums(const Propagator& x, const MomentumPhases& phases);

}  // namespace quarksmith
