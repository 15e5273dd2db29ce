/// \file
/// Two-point functions of given propagators; for those of a run see CorrelatorKind.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/measure/momenta.hpp"
#include "solvers/measure/propagator.hpp"

namespace quarksmith {

/// Names of the 16 gamma structures: products in the order x, y, z, t; `1`, `gx`, `gy`, `gxgy`, ..., `g5`.
const std::vector<std::string>& meson_names();
/// Index of a name in meson_names(); none for another name.
std::optional<int> meson_number(std::string_view name);

/// Gamma matrices at sink and source, by their numbers in meson_names().
struct GammaPair {
  int sink, source;
  bool operator==(const GammaPair&) const = default;
};
/// sum_x exp(i p.(x - x0)) tr[(gamma_5 S2 gamma_5)^+ G S1 G'] for sink G and source G', in the order of momentum_sums.
/// No sign of the fermion loop. Collective; all ranks get the same numbers.
std::vector<Complex64> meson_sums(const Propagator& s1, const Propagator& s2, std::span<const GammaPair> gammas,
                                  const MomentumPhases& phases);

/// C_Gamma(t) = -sum_x tr[Gamma S Gbar gamma_5 S^+ gamma_5], Gbar = gamma_t Gamma^+ gamma_t, for each name of
/// meson_names(); t runs over the whole lattice and counts from `source_t`. For gamma_5 this is the sum of |S|^2.
/// Collective; all ranks get the same numbers.
std::vector<std::vector<double>> meson_correlators(const Propagator& s, int source_t);

/// Proton from eps (u^T C gamma_5 d) u with C gamma_mu C^-1 = -gamma_mu^T and the projector (1 + gamma_t)/2, degenerate
/// quarks (Gattringer and Lang, Quantum Chromodynamics on the Lattice, eq. 6.34). Slices that are reached from the
/// source across the boundary are divided by the phase that three quarks get there. Collective; all ranks get the same
/// numbers.
std::vector<Complex64> proton_correlator(const Propagator& s, int source_t, Complex64 time_phase);

/// C(t) = sum_x sum_colours conj(A) B, t counted from `source_t` over the whole lattice: the Goldstone pion of quarks A
/// and B, whose phases cancel (G. W. Kilcup and S. R. Sharpe, Nucl. Phys. B 283 (1987) 493); real for A = B. For M = 2m
/// + D there is no other factor. Collective; all ranks get the same numbers.
std::vector<Complex64> goldstone_correlator(const Propagator& a, const Propagator& b, int source_t);

/// m_res(t) = sum_x <J_5q(x, t) P(0)> / sum_x <P(x, t) P(0)>: the midpoint density in the place of the pseudoscalar one
/// (T. Blum et al., Phys. Rev. D 69 (2004) 074502, hep-lat/0007038). For a propagator both are sums of |S|^2, of the
/// quark field in the middle of the fifth dimension and on its walls: slice_norms, summed over columns.
std::vector<double> residual_mass(const std::vector<double>& midpoint, const std::vector<double>& wall, int source_t);

}  // namespace quarksmith
