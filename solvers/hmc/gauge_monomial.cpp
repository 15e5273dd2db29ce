#include <functional>

#include "runtime/fields/expression.hpp"
#include "runtime/ranks/enclosure.hpp"
#include "solvers/hmc/monomial.hpp"

namespace quarksmith {
namespace {

/// Calls f for each plane: its coefficient, its directions, those that are left.
template <class F>
void for_each_plane(const GaugeLoops& loops, const F& f) {
  std::size_t plane = 0;
  for (int nu = 1; nu < directions; ++nu)
    for (int mu = 0; mu < nu; ++mu) {
      std::vector<LatticeDirection> rest;
      for (int rho = 0; rho < directions; ++rho)
        if (rho != mu && rho != nu) rest.push_back({rho});
      f(loops.planes[plane++], LatticeDirection{mu}, LatticeDirection{nu}, rest);
    }
}

}  // namespace

double GaugeMonomial::action(const EvolvingLinks& links) {
  double sum = 0;
  const LinkField& u = links.field();
  for_each_plane(loops_, [&](double c, LatticeDirection mu, LatticeDirection nu, const auto& rest) {
    sum += loops_.rectangle == 0 ? evaluate("plaquette_action", {u, c, mu, nu})[0]
                                 : evaluate("rectangle_action", {u, c, loops_.rectangle, mu, nu})[0];
    for (const LatticeDirection rho : rest)
      if (rho.mu > nu.mu && loops_.chair != 0) sum += evaluate("chair_action", {u, loops_.chair, mu, nu, rho})[0];
  });
  if (!loops_.constant) return sum;
  // Loops a site: a plaquette of each plane, 12 rectangles, 16 chairs.
  double constant = 12 * loops_.rectangle + 16 * loops_.chair;
  for (const double c : loops_.planes) constant += c;
  return sum + constant * static_cast<double>(links.domain()->lattice().global_sites());
}

void GaugeMonomial::force(const EvolvingLinks& links, LinkField& out) {
  const int reach = loops_.rectangle != 0 ? 2 : 1;
  const Enclosure around(links.domain(), {{reach, reach, reach, reach}, true}, "the force of the gauge action");
  const LinkField &u = around.read(links.field()), &p = around.write(out, false);
  const bool long_loops = loops_.rectangle != 0 || loops_.chair != 0;
  const auto parts = long_loops ? links.scratch(around.domain()) : nullptr;  // of the loops of a plane
  p.fill(0);
  for_each_plane(loops_, [&](double c, LatticeDirection mu, LatticeDirection nu, const auto& rest) {
    if (loops_.rectangle == 0) {
      evaluate("force_plaquette", {u, p, c, mu, nu, p});
    } else {
      evaluate("plane_staples", {u, mu, nu, *parts});
      evaluate("force_rectangle", {u, *parts, p, c, loops_.rectangle, mu, nu, p});
    }
    if (loops_.chair == 0) return;
    evaluate("plane_corners", {u, mu, nu, rest[0], rest[1], *parts});
    evaluate("force_chair", {u, *parts, p, loops_.chair, mu, nu, rest[0], rest[1], p});
  });
  around.written(out);
}

}  // namespace quarksmith
