// APE smearing.
#include <cmath>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::link_smearings {
namespace {

constexpr int most_sweeps = 1000;

/// Links in space by sweeps over SU(2) subgroups from U' = U, those of a direction until the sum of Re tr(U'^+ V) over
/// the lattice changes by less than `tolerance` of itself.
void sweep_ape(double keep, double add, double tolerance, const LinkField& u, LinkField& out) {
  LinkField sums(u.domain_pointer(), u.precision(), u.storage()), work(u.domain_pointer(), u.precision(), u.storage());
  evaluate("ape_sums", {u, keep, add}, {sums});
  double on[3] = {1, 1, 1};
  std::vector<double> last = evaluate("ape_traces", {u, sums});
  evaluate("ape_sweep", {u, sums, 1.0, on[0], on[1], on[2]}, {out});
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    const std::vector<double> now = evaluate("ape_traces", {out, sums});
    for (int mu = 0; mu < 3; ++mu)
      if (std::abs(now[mu] - last[mu]) < tolerance * std::abs(now[mu])) on[mu] = 0;
    last = now;
    if (on[0] + on[1] + on[2] == 0) return;
    evaluate("ape_sweep", {out, sums, 1.0, on[0], on[1], on[2]}, {work});
    std::swap(out, work);
  }
}

void step_ape(const ChoiceValues& v, const LinkField& u, LinkField& out) {
  const bool all = v[2].whole == 0;
  const double alpha = v[0].real, staples = all ? 6 : 4, tolerance = v[3].real;
  if (tolerance > 0 && all)
    throw UsageError(
        "smearing 'ape': a tolerance belongs to links in space; use ape:alpha,N,space,tol, or leave it out");
  if (tolerance > 0) return sweep_ape(1 - alpha, alpha / staples, tolerance, u, out);
  evaluate(all ? "ape4_step" : "ape3_step", {u, 1 - alpha, alpha / staples}, {out});
}

}  // namespace

extern constinit const LinkSmearingKind ape = {
    .name = "ape",
    .formula =
        "U' in SU(3) maximises Re tr(U'^+ [(1 - alpha) U + alpha/n C]), n = 6 or 4 staples C (M. Albanese et al., "
        "Phys. Lett. B 192 (1987) 163); with tol links in space alone, by sweeps over SU(2) subgroups until the sum "
        "over the lattice changes by less than that, as Chroma stops at 1e-5",
    .parameters = {{{.name = "alpha", .lower = 0, .upper = 1},
                    link_smearing_steps,
                    smeared_links,
                    {.name = "tol", .lower = 0, .upper = 0.1, .fallback = 0}}},
    .step = step_ape};

}  // namespace quarksmith::link_smearings
