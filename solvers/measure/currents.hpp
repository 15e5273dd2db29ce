/// \file
/// Two-point functions of point-split currents. Normalisations: docs/measure-correlators.md.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "solvers/actions/dirac.hpp"
#include "solvers/measure/momenta.hpp"
#include "solvers/measure/propagator.hpp"

namespace quarksmith {

/// U_mu(x) S(x + mu).
using AheadOf = std::function<Propagator(const Propagator& s, int mu)>;

/// The currents of Chroma's hadron spectrum: `vector-0` ... `vector-8`, `axial-0`, `axial-1`.
const std::vector<std::string>& chroma_current_names();
/// Current correlators as in Chroma's curcor2, but with imaginary parts and momenta. With the rho of direction k, three
/// each: the point-split local vector current, the conserved one and psibar gamma_k gamma_t psi; with the pion: the
/// point-split axial current in time and the local one.
/// \param ahead without the phase of the boundary, as in Chroma. \return in the order of momentum_sums. Collective.
std::vector<Complex64> chroma_current_sums(const Propagator& s1, const Propagator& s2, std::span<const int> currents,
                                           const AheadOf& ahead, const MomentumPhases& phases);

/// A propagator of domain-wall quarks from the walls to all slices of the fifth dimension.
struct WallPropagator {
  WallPropagator(const DomainPointer& domain, int count);
  /// Sets columns from `first` on. \param x solutions in five dimensions, in the basis and with the links of `dirac`.
  void take(int first, const DiracOperator& dirac, const SpinorField& x, const BasisInfo& basis);

  std::vector<Propagator> slices;
  Propagator midpoint;  ///< propagator to the midpoint, see DiracOperator::midpoint
};

/// Names of currents: `J5q`, `conserved_A1` ... `conserved_A4`, `conserved_V1` ... `conserved_V4`.
const std::vector<std::string>& wall_current_names();
/// sum_x exp(i p.(x - x0)) <J(x) psibar G' psi> of Shamir's quarks, with the sign of mesons: the midpoint density J5q,
/// and sum_s e(s) 1/2 [psibar_s(x + mu) (1 + gamma_mu) U_mu(x)^+ psi_s(x) - psibar_s(x) (1 - gamma_mu) U_mu(x)
/// psi_s(x + mu)], e = 1 for the vector current, -1 and 1 on the two halves for the axial one (V. Furman and Y. Shamir,
/// Nucl. Phys. B 439 (1995) 54). The axial one obeys Delta A = 2 m P + 2 J5q.
/// \param source number of G' (meson_names). \param ahead with the phase of the boundary. Order as above. Collective.
std::vector<Complex64> wall_current_sums(const WallPropagator& s, int source, std::span<const int> currents,
                                         const AheadOf& ahead, const MomentumPhases& phases);

}  // namespace quarksmith
