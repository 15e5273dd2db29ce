// APE smearing.
#include "runtime/fields/expression.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::link_smearings {
namespace {

void step_ape(const ChoiceValues& v, const LinkField& u, LinkField& out) {
  const bool all = v[2].whole == 0;
  const double alpha = v[0].real, staples = all ? 6 : 4;
  evaluate(all ? "ape4_step" : "ape3_step", {u, 1 - alpha, alpha / staples}, {out});
}

}  // namespace

extern constinit const LinkSmearingKind ape = {
    .name = "ape",
    .formula =
        "U' in SU(3) maximises Re tr(U'^+ [(1 - alpha) U + alpha/n C]), n = 6 or 4 staples C (M. Albanese et al., "
        "Phys. Lett. B 192 (1987) 163)",
    .parameters = {{{.name = "alpha", .lower = 0, .upper = 1}, link_smearing_steps, smeared_links}},
    .step = step_ape};

}  // namespace quarksmith::link_smearings
