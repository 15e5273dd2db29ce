#include "solvers/hmc/stout_force.hpp"

#include "runtime/fields/expression.hpp"

namespace quarksmith {
namespace {

/// Calls f for the planes of staples of a step: the direction of the link, that of the sides.
template <class F>
void for_each_staple(const StoutLinks& stout, const F& f) {
  const int smeared = stout.space ? directions - 1 : directions;
  for (int mu = 0; mu < smeared; ++mu)
    for (int nu = 0; nu < smeared; ++nu)
      if (nu != mu) f(LatticeDirection{mu}, LatticeDirection{nu});
}

}  // namespace

LinkField stout_force(const EvolvingLinks& links, const LinkField& u, const StoutLinks& stout, const LinkField& force) {
  LinkField sums = links.cleared(), source = links.cleared(), out = links.cleared();
  for_each_staple(
      stout, [&](LatticeDirection mu, LatticeDirection nu) { evaluate("last_staple", {u, u, sums, 1, mu, nu, sums}); });
  evaluate("back_stout", {u, sums, force, out, stout.rho, source, out});
  LinkField by_path = links.cleared(), by_side = links.cleared();
  for_each_staple(stout, [&](LatticeDirection mu, LatticeDirection nu) {
    evaluate("back_staple", {u, u, source, by_path, by_side, 1, 1, mu, nu, by_path, by_side});
  });
  evaluate("kick", {by_path, by_side, 1, sums});
  evaluate("force_link", {u, sums, out, out});
  return out;
}

}  // namespace quarksmith
