#include "runs/hmc_gauge.hpp"

#include <fmt/format.h>

#include <array>

namespace quarksmith::runs {
namespace {

const std::array<std::string, 6> plane_names = {"xy", "xz", "yz", "xt", "yt", "zt"};
constexpr int space_planes = 3;

struct GaugeNumbers {
  double beta = 0, anisotropy = 1, u_s = 1, u_t = 1, omega = 0, adjoint = 0, square = 0, plaquette = 0, rectangle = 0,
         chair = 0;
};

/// Coefficients by name, of a table of their own.
using Coefficients = std::vector<std::pair<std::string, double*>>;
void read_coefficients(TableReader& table, const std::string& key, const Coefficients& all, bool required) {
  auto given = table.table(key, fmt::format("{}: {}", table.called(), key));
  if (!given && required)
    table.refuse(Refusal::Kind::missing, key, fmt::format("{} is required: {{xy = ..., xz = ..., ...}}", key));
  if (given)
    given->read_rest([&](Members::Adder& add) {
      for (const auto& [name, to] : all) add(name, *to, "in units of beta").required(required);
    });
}

/// In units of beta.
GaugeLoops read_loops(TableReader& table) {
  GaugeLoops loops;
  Coefficients planes, rectangles, pairs;  // pairs of plaquettes, one after the other in time
  for (std::size_t n = 0; n < plane_names.size(); ++n) {
    const std::string& plane = plane_names[n];
    planes.emplace_back(plane, &loops.planes[n]);
    // xxy is two links long in x and one in y, xyy the other one of this plane.
    rectangles.emplace_back(plane[0] + plane, &loops.rectangles[n][0]);
    rectangles.emplace_back(plane + plane[1], &loops.rectangles[n][1]);
    if (n < space_planes) pairs.emplace_back(plane, &loops.two_plaquettes[n]);
  }
  read_coefficients(table, "plane_coefficients", planes, true);
  read_coefficients(table, "rectangle_coefficients", rectangles, false);
  read_coefficients(table, "two_plaquette_coefficients", pairs, false);
  return loops;
}

GaugeLoops times(double beta, GaugeLoops loops) {
  for (double& c : loops.planes) c *= beta;
  for (auto& both : loops.rectangles) both = {beta * both[0], beta * both[1]};
  for (double& c : loops.two_plaquettes) c *= beta;
  return loops;
}

/// Rectangles that are long in time are left out: C. Morningstar and M. Peardon, Phys. Rev. D 60 (1999) 034509; with
/// omega, hep-lat/9911003.
GaugeLoops anisotropic_symanzik(const GaugeNumbers& t) {
  const double beta = t.beta, xi0 = t.anisotropy, s2 = t.u_s * t.u_s, s4 = s2 * s2, t2 = t.u_t * t.u_t;
  GaugeLoops loops;
  for (int plane = 0; plane < 6; ++plane) {
    const bool space = plane < space_planes;
    loops.planes[plane] = space ? 5 * (1 + t.omega) * beta / (3 * xi0 * s4) : 4 * beta * xi0 / (3 * s2 * t2);
    const double rectangle = space ? -beta / (12 * xi0 * s4 * s2) : -beta * xi0 / (12 * s4 * t2);
    loops.rectangles[plane] = {rectangle, space ? rectangle : 0};
  }
  loops.two_plaquettes.fill(-5 * t.omega * beta / (3 * xi0 * s4 * s4));
  return loops;
}

GaugeLoops anisotropic_wilson(const GaugeNumbers& t) {
  GaugeLoops loops;
  for (int plane = 0; plane < 6; ++plane)
    loops.planes[plane] = plane < space_planes ? t.beta / t.anisotropy : t.beta * t.anisotropy;
  return loops;
}

/// The part of an action in space or in time.
GaugeLoops part_of(GaugeLoops loops, const std::string& part) {
  for (int plane = 0; plane < 6; ++plane) {
    if (part == "all" || (plane < space_planes) == (part == "space")) continue;
    loops.planes[plane] = 0;
    loops.rectangles[plane] = {};
    if (plane < space_planes) loops.two_plaquettes[plane] = 0;
  }
  return loops;
}

/// With the constant that makes the action of unit links 0.
GaugeLoops with_rectangles(double plaquette, double rectangle, double chair = 0) {
  GaugeLoops loops;
  loops.planes.fill(plaquette);
  loops.all_rectangles(rectangle);
  loops.chair = chair;
  loops.constant = true;
  return loops;
}

/// The trace of plaquettes in the adjoint, |tr|^2 - 1, and (Re tr)^2 = (|tr|^2 + Re tr^2) / 2.
GaugeLoops fundamental_adjoint(const GaugeNumbers& t) {
  GaugeLoops loops = with_rectangles(t.beta, 0);
  loops.squares = {t.adjoint + t.square / 4, t.square / 4};
  return loops;
}

}  // namespace

GaugeLoops read_gauge_action(TableReader& table) {
  constexpr double most_beta = 1e6;
  const std::string action =
      table.word("action", {"wilson", "loops", "symanzik", "anisotropic-symanzik", "adjoint", "iwasaki", "dbw2"});
  const bool stretched = action == "anisotropic-symanzik";
  const GaugeLoops given = action == "loops" ? read_loops(table) : GaugeLoops{};
  if (action == "symanzik") table.find("u0");  // the coefficients hold it already
  GaugeNumbers t;
  std::string planes = "all";
  table.read_rest([&](Members::Adder& add) {
    add("beta", t.beta, "2 N/g^2").required().range(-most_beta, most_beta);
    if (action == "wilson" || stretched) {
      add("anisotropy", t.anisotropy, "xi0").above(0).required(stretched);
      add("planes", planes, "all, or a part for steps of its own").among({"all", "space", "time"}).recent();
    }
    if (stretched) {
      add("u_s", t.u_s, "mean link in space").above(0);
      add("u_t", t.u_t, "mean link in time").above(0);
      add("omega", t.omega, "weight of pairs of plaquettes").recent();
    }
    if (action == "adjoint") {
      add("beta_adjoint", t.adjoint, "of traces in the adjoint");
      add("beta_square", t.square, "of (Re tr)^2");
    }
    if (action == "symanzik") {
      add("plaquette", t.plaquette, "coefficient of plaquettes").required();
      add("rectangle", t.rectangle, "of rectangles").required();
      add("chair", t.chair, "of chairs");
    }
  });
  if (action == "loops") return times(t.beta, given);
  if (action == "adjoint") return fundamental_adjoint(t);
  if (action == "symanzik") return with_rectangles(t.beta * t.plaquette, t.beta * t.rectangle, t.beta * t.chair);
  if (action == "wilson" || stretched)
    return part_of(stretched ? anisotropic_symanzik(t) : anisotropic_wilson(t), planes);
  // c_0 + 8 c_1 = 1: Y. Iwasaki, arXiv:1111.7054; T. Takaishi, Phys. Rev. D 54 (1996) 1050.
  const double c1 = action == "iwasaki" ? -0.331 : -1.4088;
  return with_rectangles(t.beta * (1 - 8 * c1), t.beta * c1);
}

}  // namespace quarksmith::runs
