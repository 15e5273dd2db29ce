// Stout smearing.
#include "runtime/fields/expression.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::link_smearings {
namespace {

void step_stout(const ChoiceValues& v, const LinkField& u, LinkField& out) {
  evaluate(v[2].whole == 0 ? "stout4_step" : "stout3_step", {u, v[0].real}, {out});
}

}  // namespace

extern constinit const LinkSmearingKind stout = {
    .name = "stout",
    .formula = "U' = exp(rho TA(C U^+)) U, C the sum of the staples (C. Morningstar and M. Peardon, hep-lat/0311018)",
    .parameters = {{{.name = "rho", .lower = -1, .upper = 1}, link_smearing_steps, smeared_links}},
    .step = step_stout};

}  // namespace quarksmith::link_smearings
