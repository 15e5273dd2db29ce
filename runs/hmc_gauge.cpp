#include "runs/hmc_gauge.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace quarksmith::runs {
namespace {

constexpr double most_beta = 1e6;
const std::array<std::string, 6> plane_names = {"xy", "xz", "yz", "xt", "yt", "zt"};
constexpr int space_planes = 3;

/// Of a key that files had not from the start: what they do not say is not noted, so that their runs can go on.
double later_number(TableReader& table, const std::string& key, double fallback) {
  return table.has(key) ? table.number(key) : fallback;
}

/// Coefficients by orientation: xxy is two links long in x and one in y, xyy the other one of this plane.
void read_rectangles(TableReader& table, double beta, GaugeLoops& loops) {
  auto given = table.table("rectangle_coefficients", table.called() + ": rectangle_coefficients");
  if (!given) return;
  for (std::size_t n = 0; n < plane_names.size(); ++n) {
    const std::string& plane = plane_names[n];
    loops.rectangles[n] = {beta * given->number(plane[0] + plane, 0), beta * given->number(plane + plane[1], 0)};
  }
  given->done();
}

/// Of pairs of plaquettes, one after the other in time.
void read_pairs(TableReader& table, double beta, GaugeLoops& loops) {
  if (!table.has("two_plaquette_coefficients")) return;
  auto given = table.table("two_plaquette_coefficients", table.called() + ": two_plaquette_coefficients");
  for (int n = 0; n < space_planes; ++n) loops.two_plaquettes[n] = beta * given->number(plane_names[n], 0);
  given->done();
}

GaugeLoops read_loops(TableReader& table, double beta) {
  GaugeLoops loops;
  auto planes = table.table("plane_coefficients", table.called() + ": plane_coefficients");
  if (!planes)
    table.fail("plane_coefficients is missing; give {xy = ..., xz = ..., yz = ..., xt = ..., yt = ..., zt = ...}");
  int n = 0;
  for (const std::string& plane : plane_names) loops.planes[n++] = beta * planes->number(plane);
  planes->done();
  read_rectangles(table, beta, loops);
  read_pairs(table, beta, loops);
  return loops;
}

/// Rectangles that are long in time are left out: C. Morningstar and M. Peardon, Phys. Rev. D 60 (1999) 034509; with
/// omega, hep-lat/9911003.
GaugeLoops anisotropic_symanzik(TableReader& table, double beta) {
  const double xi0 = table.positive("anisotropy"), s = table.positive("u_s", 1), t = table.positive("u_t", 1);
  const double omega = later_number(table, "omega", 0), s2 = s * s, s4 = s2 * s2, t2 = t * t;
  GaugeLoops loops;
  for (int plane = 0; plane < 6; ++plane) {
    const bool space = plane < space_planes;
    loops.planes[plane] = space ? 5 * (1 + omega) * beta / (3 * xi0 * s4) : 4 * beta * xi0 / (3 * s2 * t2);
    const double rectangle = space ? -beta / (12 * xi0 * s4 * s2) : -beta * xi0 / (12 * s4 * t2);
    loops.rectangles[plane] = {rectangle, space ? rectangle : 0};
  }
  loops.two_plaquettes.fill(-5 * omega * beta / (3 * xi0 * s4 * s4));
  return loops;
}

GaugeLoops anisotropic_wilson(TableReader& table, double beta) {
  const double xi0 = table.positive("anisotropy", 1);
  GaugeLoops loops;
  for (int plane = 0; plane < 6; ++plane) loops.planes[plane] = plane < space_planes ? beta / xi0 : beta * xi0;
  return loops;
}

/// The part of an action in space or in time: steps of their own for each.
void read_part(TableReader& table, GaugeLoops& loops) {
  if (!table.has("planes")) return;
  const std::string part = table.word("planes", {"all", "space", "time"});
  for (int plane = 0; plane < 6; ++plane) {
    if (part == "all" || (plane < space_planes) == (part == "space")) continue;
    loops.planes[plane] = 0;
    loops.rectangles[plane] = {};
    if (plane < space_planes) loops.two_plaquettes[plane] = 0;
  }
}

/// The trace of plaquettes in the adjoint, |tr|^2 - 1, and (Re tr)^2 = (|tr|^2 + Re tr^2) / 2.
GaugeLoops fundamental_adjoint(TableReader& table, double beta) {
  const double adjoint = table.number("beta_adjoint", 0), square = table.number("beta_square", 0);
  GaugeLoops loops;
  loops.planes.fill(beta);
  loops.squares = {adjoint + square / 4, square / 4};
  loops.constant = true;
  return loops;
}

/// c_0 + 8 c_1 = 1
GaugeLoops with_rectangles(double beta, double c1) {
  GaugeLoops loops;
  loops.planes.fill(beta * (1 - 8 * c1));
  loops.all_rectangles(beta * c1);
  loops.constant = true;
  return loops;
}

GaugeLoops symanzik(TableReader& table, double beta) {
  GaugeLoops loops;
  loops.planes.fill(beta * table.number("plaquette"));
  loops.all_rectangles(beta * table.number("rectangle"));
  loops.chair = beta * table.number("chair", 0);
  loops.constant = true;
  table.find("u0");  // the coefficients hold it already
  return loops;
}

}  // namespace

GaugeLoops read_gauge_action(TableReader& table) {
  const std::string action =
      table.word("action", {"wilson", "loops", "symanzik", "anisotropic-symanzik", "adjoint", "iwasaki", "dbw2"});
  const double beta = table.number("beta");
  if (!(std::abs(beta) <= most_beta)) table.fail(fmt::format("beta = {}; use a number up to {}", beta, most_beta));
  if (action == "loops") return read_loops(table, beta);
  if (action == "adjoint") return fundamental_adjoint(table, beta);
  if (action == "symanzik") return symanzik(table, beta);
  // Y. Iwasaki, arXiv:1111.7054; T. Takaishi, Phys. Rev. D 54 (1996) 1050.
  if (action == "iwasaki" || action == "dbw2") return with_rectangles(beta, action == "iwasaki" ? -0.331 : -1.4088);
  GaugeLoops loops = action == "wilson" ? anisotropic_wilson(table, beta) : anisotropic_symanzik(table, beta);
  read_part(table, loops);
  return loops;
}

}  // namespace quarksmith::runs
