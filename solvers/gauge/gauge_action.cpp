#include "solvers/gauge/gauge_action.hpp"

#include "runtime/fields/expression.hpp"
#include "runtime/fields/enclosure.hpp"

namespace quarksmith {
namespace {

constexpr LatticeDirection time_direction{directions - 1};

/// A plane: coefficients of its plaquettes, of rectangles long in mu and in nu, of pairs of plaquettes; its directions,
/// those that are left.
struct Plane {
  double square;
  std::array<double, 2> rectangles;
  double pair;
  LatticeDirection mu, nu;
  std::vector<LatticeDirection> rest;

  /// Whether plaquettes and rectangles follow from the same sums of staples.
  bool has_equal_rectangles() const { return rectangles[0] == rectangles[1] && rectangles[0] != 0; }
  bool has_rectangles() const { return rectangles[0] != 0 || rectangles[1] != 0; }
};

/// Factor for kernels, which divide traces of three colours by 3, to make coefficients of traces divided by N.
double per_trace(const LinkField& u) { return 3.0 / u.colours(); }

/// \param trace of one trace. \param factor of all coefficients.
std::vector<Plane> planes_of(const GaugeLoops& loops, double trace, double factor = 1) {
  std::vector<Plane> planes;
  for (int nu = 1; nu < directions; ++nu)
    for (int mu = 0; mu < nu; ++mu) {
      const std::size_t n = planes.size();
      const auto [along_mu, along_nu] = loops.rectangles[n];
      const double pair = nu < time_direction.mu ? factor * trace * trace * loops.two_plaquettes[n] : 0,
                   one = factor * trace;
      planes.push_back({one * loops.planes[n], {one * along_mu, one * along_nu}, pair, {mu}, {nu}, {}});
      for (int rho = 0; rho < directions; ++rho)
        if (rho != mu && rho != nu) planes.back().rest.push_back({rho});
    }
  return planes;
}

/// Plaquettes and rectangles. What the ratio divides by is not 0: the other direction comes first where it is.
double action_of(const Plane& plane, const LinkField& u) {
  const auto [along_mu, along_nu] = plane.rectangles;
  if (!plane.has_rectangles()) return evaluate("plaquette_action", {u, plane.square, plane.mu, plane.nu})[0];
  if (along_mu == 0) return evaluate("rectangle_action", {u, plane.square, along_nu, 0.0, plane.nu, plane.mu})[0];
  return evaluate("rectangle_action", {u, plane.square, along_mu, along_nu / along_mu, plane.mu, plane.nu})[0];
}

/// p += dP/dtau of plaquettes whose planes have no equal rectangles: of the links along one direction at a time.
void add_plaquettes(const std::vector<Plane>& planes, const LinkField& u, LinkField& p) {
  double c[directions][directions] = {};
  bool some = false;
  for (const Plane& plane : planes) {
    if (plane.has_equal_rectangles()) continue;
    c[plane.mu.mu][plane.nu.mu] = c[plane.nu.mu][plane.mu.mu] = plane.square;
    some = some || plane.square != 0;
  }
  if (!some) return;
  for (int mu = 0; mu < directions; ++mu) {
    const LatticeDirection along{mu}, nu{(mu + 1) % 4}, rho{(mu + 2) % 4}, sigma{(mu + 3) % 4};
    evaluate("force_plaquettes", {u, p, c[mu][nu.mu], c[mu][rho.mu], c[mu][sigma.mu], along, nu, rho, sigma}, {p});
  }
}

/// p += dP/dtau of rectangles, and of plaquettes if they are equal. The staple along mu stands for rectangles long in
/// nu, with their coefficient if it is not that of the others: force_rectangle is linear in staples.
void add_rectangles(const Plane& plane, const LinkField& u, LinkField& staples, LinkField& p) {
  const auto [along_mu, along_nu] = plane.rectangles;
  const LatticeDirection mu = plane.mu, nu = plane.nu;
  if (plane.has_equal_rectangles()) {
    evaluate("plane_staples", {u, mu, nu}, {staples});
    evaluate("force_rectangle", {u, staples, p, plane.square, along_mu, mu, nu}, {p});
    return;
  }
  evaluate("set_staple", {u, u, along_nu, mu, nu}, {staples});
  evaluate("set_staple", {u, u, along_mu, nu, mu}, {staples});
  evaluate("force_rectangle", {u, staples, p, 0.0, 1.0, mu, nu}, {p});
}

/// p += dP/dtau of what is not linear in plaquettes, of the links along both directions.
void add_products(const Plane& plane, const std::array<double, 2>& squares, const LinkField& u, LinkField& p) {
  for (const auto& [mu, nu] : {std::pair{plane.mu, plane.nu}, {plane.nu, plane.mu}}) {
    if (plane.pair != 0) evaluate("force_two_plaquettes", {u, p, plane.pair, mu, nu, time_direction}, {p});
    if (squares[0] != 0 || squares[1] != 0) evaluate("force_squares", {u, p, squares[0], squares[1], mu, nu}, {p});
  }
}

/// The value of all terms of a site on unit links: coefficients of 12 rectangles, 16 chairs, a plaquette of each plane
/// and its square, and pairs of these. Equal rectangles add up without rounding.
double value_of_a_site(const GaugeLoops& loops) {
  double sum = 0;
  for (int n = 0; n < 6; n += 2)
    sum +=
        (loops.rectangles[n][0] + loops.rectangles[n][1]) + (loops.rectangles[n + 1][0] + loops.rectangles[n + 1][1]);
  sum += 16 * loops.chair;
  for (const double c : loops.planes) sum += c + loops.squares[0] + loops.squares[1];
  for (const double c : loops.two_plaquettes) sum += c / 2;
  return sum;
}

}  // namespace

double gauge_action(const GaugeLoops& loops, const LinkField& u) {
  double sum = 0;
  const double trace = per_trace(u), traces = trace * trace;
  for (const Plane& plane : planes_of(loops, trace)) {
    sum += action_of(plane, u);
    if (plane.pair != 0)
      sum += evaluate("two_plaquette_action", {u, plane.pair, plane.mu, plane.nu, time_direction})[0];
    if (loops.has_squares())
      sum +=
          evaluate("squares_action", {u, traces * loops.squares[0], traces * loops.squares[1], plane.mu, plane.nu})[0];
    for (const LatticeDirection rho : plane.rest)
      if (rho.mu > plane.nu.mu && loops.chair != 0)
        sum += evaluate("chair_action", {u, trace * loops.chair, plane.mu, plane.nu, rho})[0];
  }
  if (!loops.constant) return sum;
  return sum + value_of_a_site(loops) * static_cast<double>(u.domain().lattice().global_sites());
}

void add_gauge_force(const GaugeLoops& loops, const LinkField& links, const ScratchFields& scratch, double step,
                     LinkField& out) {
  const int reach = loops.has_rectangles() ? 2 : 1;
  const Enclosure around(links.domain_pointer(), {{reach, reach, reach, reach}, true}, "the force of the gauge action");
  const LinkField& u = around.read(links);
  LinkField& p = around.add_to(out);
  const bool long_loops = loops.has_rectangles() || loops.chair != 0;
  const auto parts = long_loops ? scratch.field(around.domain(), u.colours()) : nullptr;  // of the loops of a plane
  const double trace = per_trace(u), traces = step * trace * trace;
  const std::vector<Plane> planes = planes_of(loops, trace, step);
  const std::array<double, 2> squares = {traces * loops.squares[0], traces * loops.squares[1]};
  add_plaquettes(planes, u, p);
  for (const Plane& plane : planes) {
    add_products(plane, squares, u, p);
    if (plane.has_rectangles()) add_rectangles(plane, u, *parts, p);
    if (loops.chair == 0) continue;
    const LatticeDirection mu = plane.mu, nu = plane.nu, rho = plane.rest[0], sigma = plane.rest[1];
    evaluate("plane_corners", {u, mu, nu, rho, sigma}, {*parts});
    evaluate("force_chair", {u, *parts, p, step * trace * loops.chair, mu, nu, rho, sigma}, {p});
  }
  around.added_to(out);
}

}  // namespace quarksmith
