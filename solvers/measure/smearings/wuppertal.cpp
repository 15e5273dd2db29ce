// Wuppertal smearing.
#include "runtime/fields/expression.hpp"
#include "solvers/measure/smearing.hpp"

namespace quarksmith::smearings {
namespace {

void smear_wuppertal(const ChoiceValues& v, const LinkField& links, SpinorField& psi,
                     const std::function<void()>& look) {
  const double alpha = v[0].real;
  repeat(v[1].whole, psi, look, [&](const SpinorField& from, SpinorField& to) {
    evaluate("wuppertal_step", {links, from, alpha, 1 / (1 + 6 * alpha)}, {to});
  });
}

}  // namespace

extern constinit const SmearingKind wuppertal = {
    .name = "wuppertal",
    .formula = "N times psi = (psi + alpha h psi)/(1 + 6 alpha) (S. Guesken et al., Phys. Lett. B 227 (1989) 266)",
    .parameters = {{{.name = "alpha", .lower = 0, .upper = 1e4}, smearing_steps}},
    .smear = smear_wuppertal};

}  // namespace quarksmith::smearings
