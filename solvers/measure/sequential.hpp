/// \file
/// Three-point functions with sequential sources at the sink.
///
/// C3(y) = sum over x at the time of the sink of exp(i p.(x - x0)) F(x) [S(x, y) G S(y, x0)], F the derivative of a
/// two-point function by the propagator of the line that carries the current G. With D X = gamma_5 conj(F exp(i p.x))
/// on that slice, C3(y) = sum of [gamma_5 conj(X(y))] [G S(y)] over sink and source spins and colours (G. Martinelli
/// and C. T. Sachrajda, Nucl. Phys. B 316 (1989) 355).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/measure/correlators.hpp"
#include "solvers/measure/interpolators.hpp"

namespace quarksmith {

/// F of mesons (meson_sums) by S1, from S2.
Propagator meson_derivative(const Propagator& s2, const GammaPair& gammas);
/// F of a baryon by the propagator of one of its lines: of all quarks of that line.
Propagator baryon_derivative(std::span<const Propagator* const> lines, const BaryonTerms& baryon, int line);

/// F becomes the source of X: gamma_5 conj(F exp(i p.(x - x0))) at one time of the whole lattice, 0 elsewhere.
/// \return sum of exp(i p.(x - x0)) F S there: so many times the two-point function as quarks are on the line.
/// Collective.
Complex64 make_sequential_source(Propagator& f, const Propagator& s, int time, const Momentum& p,
                                 const Coordinates& origin, Communicator& communicator = *Communicator::self());

/// A current psibar G psi, or the conserved vector current of the Wilson operator,
/// 1/2 [psibar(y + mu) (1 + gamma_mu) U_mu(y)^+ psi(y) - psibar(y) (1 - gamma_mu) U_mu(y) psi(y + mu)].
struct Current {
  std::string name;
  int gamma = 0;  ///< of gamma_product; of the conserved one its direction
  double sign = 1;
  bool conserved = false;
};
/// `S`, `P`, `V1` ... `V4`, `A1` ... `A4` = gamma_mu gamma_5, `T12` ... `T34` = gamma_mu gamma_nu, `conserved_V1` ...
/// `conserved_V4`. \throws UnknownName
Current current_named(const std::string& name);
std::vector<std::string> current_names();

/// sum_y exp(i q.(y - x0)) C3(y) of local currents, in the order of momentum_sums; of conserved ones with `mu` their
/// direction, for which `ahead` has U_mu(y) X(y + mu) and U_mu(y) S(y + mu).
struct AheadPropagators {
  const Propagator *x, *s;
};
std::vector<Complex64> three_point_sums(const Propagator& x, const Propagator& s, std::span<const Current> currents,
                                        const MomentumPhases& phases,
                                        Communicator& communicator = *Communicator::self());
std::vector<Complex64> conserved_three_point_sums(const Propagator& x, const Propagator& s,
                                                  const AheadPropagators& ahead, int mu, const MomentumPhases& phases,
                                                  Communicator& communicator = *Communicator::self());

/// U_mu(x) S(x + mu), with the phase of hops over the boundary. \param links with all reals. Collective.
Propagator ahead_of(const Propagator& s, int mu, const std::shared_ptr<const LinkField>& links,
                    const std::array<Complex64, directions>& boundary);

}  // namespace quarksmith
