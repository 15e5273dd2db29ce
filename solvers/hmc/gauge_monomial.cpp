#include "runtime/fields/expression.hpp"
#include "runtime/ranks/enclosure.hpp"
#include "solvers/hmc/monomial.hpp"

namespace quarksmith {
namespace {

/// A plane: coefficients of its plaquettes and of rectangles long in mu and in nu, its directions, those that are left.
struct Plane {
  double square;
  std::array<double, 2> rectangles;
  LatticeDirection mu, nu;
  std::vector<LatticeDirection> rest;
};

std::vector<Plane> planes_of(const GaugeLoops& loops) {
  std::vector<Plane> planes;
  for (int nu = 1; nu < directions; ++nu)
    for (int mu = 0; mu < nu; ++mu) {
      const std::size_t n = planes.size();
      planes.push_back({loops.planes[n], loops.rectangles[n], {mu}, {nu}, {}});
      for (int rho = 0; rho < directions; ++rho)
        if (rho != mu && rho != nu) planes.back().rest.push_back({rho});
    }
  return planes;
}

/// Plaquettes and rectangles. What the ratio divides by is not 0: the other direction comes first where it is.
double action_of(const Plane& plane, const LinkField& u) {
  const auto [along_mu, along_nu] = plane.rectangles;
  if (along_mu == 0 && along_nu == 0) return evaluate("plaquette_action", {u, plane.square, plane.mu, plane.nu})[0];
  if (along_mu == 0) return evaluate("rectangle_action", {u, plane.square, along_nu, 0.0, plane.nu, plane.mu})[0];
  return evaluate("rectangle_action", {u, plane.square, along_mu, along_nu / along_mu, plane.mu, plane.nu})[0];
}

/// p += their dP/dtau. The staple along mu stands for rectangles long in nu, with their coefficient if it is not that
/// of the others: force_rectangle is linear in staples.
void add_force(const Plane& plane, const LinkField& u, const LinkField* staples, const LinkField& p) {
  const auto [along_mu, along_nu] = plane.rectangles;
  const LatticeDirection mu = plane.mu, nu = plane.nu;
  if (along_mu != along_nu || along_mu == 0) evaluate("force_plaquette", {u, p, plane.square, mu, nu, p});
  if (along_mu == 0 && along_nu == 0) return;
  if (along_mu == along_nu) {
    evaluate("plane_staples", {u, mu, nu, *staples});
    evaluate("force_rectangle", {u, *staples, p, plane.square, along_mu, mu, nu, p});
    return;
  }
  staples->fill(0);
  evaluate("last_staple", {u, u, *staples, along_nu, mu, nu, *staples});
  evaluate("last_staple", {u, u, *staples, along_mu, nu, mu, *staples});
  evaluate("force_rectangle", {u, *staples, p, 0.0, 1.0, mu, nu, p});
}

/// Of a site: the sum of the coefficients of its loops, 12 rectangles, 16 chairs and a plaquette of each plane. Equal
/// rectangles add up without rounding.
double coefficients_of_a_site(const GaugeLoops& loops) {
  double sum = 0;
  for (int n = 0; n < 6; n += 2)
    sum +=
        (loops.rectangles[n][0] + loops.rectangles[n][1]) + (loops.rectangles[n + 1][0] + loops.rectangles[n + 1][1]);
  sum += 16 * loops.chair;
  for (const double c : loops.planes) sum += c;
  return sum;
}

}  // namespace

double GaugeMonomial::action(const EvolvingLinks& links) {
  double sum = 0;
  const LinkField& u = links.field();
  for (const Plane& plane : planes_of(loops_)) {
    sum += action_of(plane, u);
    for (const LatticeDirection rho : plane.rest)
      if (rho.mu > plane.nu.mu && loops_.chair != 0)
        sum += evaluate("chair_action", {u, loops_.chair, plane.mu, plane.nu, rho})[0];
  }
  if (!loops_.constant) return sum;
  return sum + coefficients_of_a_site(loops_) * static_cast<double>(links.domain()->lattice().global_sites());
}

void GaugeMonomial::force(const EvolvingLinks& links, LinkField& out) {
  const int reach = loops_.has_rectangles() ? 2 : 1;
  const Enclosure around(links.domain(), {{reach, reach, reach, reach}, true}, "the force of the gauge action");
  const LinkField &u = around.read(links.field()), &p = around.write(out, false);
  const bool long_loops = loops_.has_rectangles() || loops_.chair != 0;
  const auto parts = long_loops ? links.scratch(around.domain()) : nullptr;  // of the loops of a plane
  p.fill(0);
  for (const Plane& plane : planes_of(loops_)) {
    add_force(plane, u, parts.get(), p);
    if (loops_.chair == 0) continue;
    const LatticeDirection mu = plane.mu, nu = plane.nu, rho = plane.rest[0], sigma = plane.rest[1];
    evaluate("plane_corners", {u, mu, nu, rho, sigma, *parts});
    evaluate("force_chair", {u, *parts, p, loops_.chair, mu, nu, rho, sigma, p});
  }
  around.written(out);
}

}  // namespace quarksmith
