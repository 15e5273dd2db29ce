#include "runs/hmc_gauge.hpp"

#include <fmt/format.h>

#include <array>

namespace quarksmith::runs {
namespace {

const std::array<std::string, 6> plane_names = {"xy", "xz", "yz", "xt", "yt", "zt"};
constexpr int space_planes = 3;

struct GaugeTable : Description {
  explicit GaugeTable(std::string of) : action(std::move(of)) {}
  std::string action, planes = "all";
  double beta = 0, anisotropy = 1, u_s = 1, u_t = 1, omega = 0, adjoint = 0, square = 0, plaquette = 0, rectangle = 0,
         chair = 0;

  void list(Members& members) override {
    constexpr double most_beta = 1e6;
    auto add = members.of(*this);
    const bool anisotropic = action == "anisotropic-symanzik";
    add("beta", beta, "2 N/g^2").required().range(-most_beta, most_beta);
    if (action == "wilson" || anisotropic) {
      add("anisotropy", anisotropy, "xi0").above(0).required(anisotropic);
      add("planes", planes, "those in space or in time alone, for steps of their own")
          .among({"all", "space", "time"})
          .recent();
    }
    if (anisotropic) {
      add("u_s", u_s, "mean link in space").above(0);
      add("u_t", u_t, "mean link in time").above(0);
      add("omega", omega, "of pairs of plaquettes").recent();
    }
    if (action == "adjoint") {
      add("beta_adjoint", adjoint, "of traces in the adjoint");
      add("beta_square", square, "of (Re tr)^2");
    }
    if (action == "symanzik") {
      add("plaquette", plaquette, "coefficient of plaquettes").required();
      add("rectangle", rectangle, "of rectangles").required();
      add("chair", chair, "of chairs");
    }
  }
};

/// Coefficients by orientation.
struct CoefficientTable : Description {
  std::vector<std::pair<std::string, double*>> all;
  bool is_required = false;

  void list(Members& members) override {
    auto add = members.of(*this);
    for (const auto& [name, to] : all) add(name, *to, "in units of beta").required(is_required);
  }
  /// Whether there is such a table, from which they are read.
  bool read_of(TableReader& table, const char* key) {
    auto given = table.table(key, fmt::format("{}: {}", table.called(), key));
    if (given) given->read_rest(*this);
    return given.has_value();
  }
};

/// In units of beta.
GaugeLoops read_loops(TableReader& table) {
  GaugeLoops loops;
  CoefficientTable planes, rectangles, pairs;  // pairs of plaquettes, one after the other in time
  for (std::size_t n = 0; n < plane_names.size(); ++n) {
    const std::string& plane = plane_names[n];
    planes.all.emplace_back(plane, &loops.planes[n]);
    // xxy is two links long in x and one in y, xyy the other one of this plane.
    rectangles.all.emplace_back(plane[0] + plane, &loops.rectangles[n][0]);
    rectangles.all.emplace_back(plane + plane[1], &loops.rectangles[n][1]);
    if (n < space_planes) pairs.all.emplace_back(plane, &loops.two_plaquettes[n]);
  }
  planes.is_required = true;
  if (!planes.read_of(table, "plane_coefficients"))
    table.refuse(Refusal::Kind::missing, "plane_coefficients",
                 "plane_coefficients is required: {xy = ..., xz = ..., yz = ..., xt = ..., yt = ..., zt = ...}");
  rectangles.read_of(table, "rectangle_coefficients");
  pairs.read_of(table, "two_plaquette_coefficients");
  return loops;
}

GaugeLoops times(double beta, GaugeLoops loops) {
  for (double& c : loops.planes) c *= beta;
  for (auto& both : loops.rectangles)
    for (double& c : both) c *= beta;
  for (double& c : loops.two_plaquettes) c *= beta;
  return loops;
}

/// Rectangles that are long in time are left out: C. Morningstar and M. Peardon, Phys. Rev. D 60 (1999) 034509; with
/// omega, hep-lat/9911003.
GaugeLoops anisotropic_symanzik(const GaugeTable& t) {
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

GaugeLoops anisotropic_wilson(const GaugeTable& t) {
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

/// The trace of plaquettes in the adjoint, |tr|^2 - 1, and (Re tr)^2 = (|tr|^2 + Re tr^2) / 2.
GaugeLoops fundamental_adjoint(const GaugeTable& t) {
  GaugeLoops loops;
  loops.planes.fill(t.beta);
  loops.squares = {t.adjoint + t.square / 4, t.square / 4};
  loops.constant = true;
  return loops;
}

GaugeLoops with_rectangles(double plaquette, double rectangle, double chair) {
  GaugeLoops loops;
  loops.planes.fill(plaquette);
  loops.all_rectangles(rectangle);
  loops.chair = chair;
  loops.constant = true;
  return loops;
}

}  // namespace

GaugeLoops read_gauge_action(TableReader& table) {
  const std::string action =
      table.word("action", {"wilson", "loops", "symanzik", "anisotropic-symanzik", "adjoint", "iwasaki", "dbw2"});
  GaugeLoops loops;
  if (action == "loops") loops = read_loops(table);
  if (action == "symanzik") table.find("u0");  // the coefficients hold it already
  GaugeTable t(action);
  table.read_rest(t);
  if (action == "loops") return times(t.beta, loops);
  if (action == "adjoint") return fundamental_adjoint(t);
  if (action == "symanzik") return with_rectangles(t.beta * t.plaquette, t.beta * t.rectangle, t.beta * t.chair);
  if (action == "wilson") return part_of(anisotropic_wilson(t), t.planes);
  if (action == "anisotropic-symanzik") return part_of(anisotropic_symanzik(t), t.planes);
  // c_0 + 8 c_1 = 1: Y. Iwasaki, arXiv:1111.7054; T. Takaishi, Phys. Rev. D 54 (1996) 1050.
  const double c1 = action == "iwasaki" ? -0.331 : -1.4088;
  return with_rectangles(t.beta * (1 - 8 * c1), t.beta * c1, 0);
}

}  // namespace quarksmith::runs
