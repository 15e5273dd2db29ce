/// \file
/// Three-point functions with sequential sources at the sink.
///
/// C3(y) = sum over x at the time of the sink of exp(i p.(x - x0)) F(x) [S(x, y) G S(y, x0)], F the derivative of a
/// two-point function by the propagator of the line that carries the current G. With D' X = gamma_5 conj(F exp(i p.x))
/// on that slice, D' = gamma_5 D^+ gamma_5 (Action::adjoint), C3(y) = sum of [gamma_5 conj(X(y))] [G S(y)] over sink
/// and source spins and colours (G. Martinelli and C. T. Sachrajda, Nucl. Phys. B 316 (1989) 355).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "solvers/measure/baryons.hpp"
#include "solvers/measure/correlators.hpp"

namespace quarksmith {

/// Time slice and momentum of the sink.
struct SinkPlace {
  int time;  ///< of the whole lattice
  Momentum momentum;
  Coordinates origin;
};

/// A sequential source, gamma_5 conj(F exp(i p.(x - x0))) at the time of the sink and 0 elsewhere, and the sum of exp(i
/// p.(x - x0)) F S there: the two-point function times the number of quarks on the line.
struct SinkSource {
  Propagator source;
  Complex64 two_point;
};
/// Sequential source of mesons (meson_sums), from S1. Collective.
SinkSource sequential_source(const Propagator& s1, const Propagator& s2, const GammaPair& gammas,
                             const SinkPlace& sink);
/// Sequential source of a baryon, from the propagator of one of its lines. Collective.
SinkSource sequential_source(std::span<const Propagator* const> lines, const Baryon& baryon, int line,
                             const SinkPlace& sink);

/// A current psibar G psi, or the conserved vector current of the Wilson operator,
/// 1/2 [psibar(y + mu) (1 + gamma_mu) U_mu(y)^+ psi(y) - psibar(y) (1 - gamma_mu) U_mu(y) psi(y + mu)].
struct Current {
  std::string name;
  int gamma = 0;  ///< bits of gamma_product; for a conserved current its direction
  double sign = 1;
  bool conserved = false;
};
/// `S`, `P`, `V1` ... `V4`, `A1` ... `A4` = gamma_mu gamma_5, `T12` ... `T34` = gamma_mu gamma_nu, `conserved_V1` ...
/// `conserved_V4`. \throws UnknownName there is no such current.
Current current_named(const std::string& name);
std::vector<std::string> current_names();

/// sum_y exp(i q.(y - x0)) C3(y) of local currents, in the order of momentum_sums; of conserved ones with `mu` their
/// direction, for which `ahead` has U_mu(y) X(y + mu) and U_mu(y) S(y + mu). Collective.
struct AheadPropagators {
  const Propagator *x, *s;
};
std::vector<Complex64> three_point_sums(const Propagator& x, const Propagator& s, std::span<const Current> currents,
                                        const MomentumPhases& phases);
std::vector<Complex64> conserved_three_point_sums(const Propagator& x, const Propagator& s,
                                                  const AheadPropagators& ahead, int mu, const MomentumPhases& phases);

}  // namespace quarksmith
