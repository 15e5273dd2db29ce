#include "solvers/hmc/stout_force.hpp"

#include "runtime/fields/expression.hpp"
#include "runtime/ranks/enclosure.hpp"

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

void stout_force(const EvolvingLinks& links, const LinkField& thin, const StoutLinks& stout, const LinkField& force) {
  const Enclosure around(links.domain(), {{2, 2, 2, 2}, true}, "the force of smeared links");
  const auto field = [&] { return links.scratch(around.domain()); };
  const auto sums = field(), source = field(), out = field(), by_path = field(), by_side = field(), copy = field();
  const LinkField &u = around.read(thin), &z = around.read(force, *copy);
  for (const auto& f : {sums, out, by_path, by_side}) f->fill(0);
  for_each_staple(stout, [&](LatticeDirection mu, LatticeDirection nu) {
    evaluate("last_staple", {u, u, *sums, 1, mu, nu, *sums});
  });
  evaluate("back_stout", {u, *sums, z, *out, stout.rho, *source, *out});
  for_each_staple(stout, [&](LatticeDirection mu, LatticeDirection nu) {
    evaluate("back_staple", {u, u, *source, *by_path, *by_side, 1, 1, mu, nu, *by_path, *by_side});
  });
  evaluate("kick", {*by_path, *by_side, 1, *sums});
  const LinkField& result = around.write(force, false);
  evaluate("force_link", {u, *sums, *out, result});
  around.written(force);
}

}  // namespace quarksmith
