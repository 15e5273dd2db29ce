// Twisted mass against what other codes obtain.
#include <fmt/format.h>

#include <map>

#include "runtime/fields/gauge.hpp"
#include "tests/quark.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using data::load;
using data::Quark;

Action twisted_mass(double kappa, double mu, const BoundaryPhases& boundary = data::antiperiodic) {
  return {"twisted_mass", {{"mass", data::mass_of(kappa)}, {"mu", mu}}, boundary};
}

class TwistedData : public support::OnDevice {};

/// The pseudoscalar correlator of two quarks of twisted masses in the physical basis, where each is rotated by
/// exp(i pi gamma_5 / 4) at both ends, sign as its twist: nothing is left of it for equal signs, gamma_5 at both ends
/// and a factor i^2 for opposite ones.
std::vector<Complex64> pseudoscalar(const Propagator& first, const Propagator& second, bool same_sign, int t0) {
  const Lattice& lattice = first.lattice();
  std::vector<Complex64> c(lattice.extent(3));
  HostSpinor a(lattice), b(lattice);
  for (int source = 0; source < 12; ++source) {
    first.get_column(source, a);
    second.get_column(source, b);
    for (long long x = 0; x < lattice.sites(); ++x)
      for (int sink = 0; sink < 12; ++sink) {
        const double sign = same_sign ? 1 : (source < 6) == (sink < 6) ? -1 : 1;
        c[(lattice.coordinates(x)[3] + c.size() - t0) % c.size()] +=
            sign * std::conj(a.site[x][sink]) * b.site[x][sink];
      }
  }
  return c;
}

TEST_P(TwistedData, NissaMesons) {
  REQUIRE_DATA();
  const HostGauge gauge = load("nissa/L4T8conf", {4, 4, 4, 8});
  const nlohmann::json peer = data::read_json("nissa/reference/twisted_mass_2pt.json");
  std::map<double, Propagator> quarks;
  for (const double mu : {0.5, -0.5, 2.0, -2.0})
    quarks.emplace(mu, Quark(gauge, twisted_mass(0.177, mu), GetParam(), 1e-14).propagator("point:0,0,0,4"));
  int found = 0;
  for (const auto& entry : peer["correlators"]) {
    ++found;
    const double first = entry["m1"].get<double>() * (entry["r1"] == 0 ? 1 : -1),
                 second = entry["m2"].get<double>() * (entry["r2"] == 0 ? 1 : -1);
    const std::vector<Complex64> ours = pseudoscalar(quarks.at(first), quarks.at(second), first * second > 0, 4);
    for (int t = 0; t < 8; ++t) {
      const Complex64 theirs = {entry["P5P5"][t][0], entry["P5P5"][t][1]};
      const std::string what = fmt::format("C({}), mu {} and {}", t, first, second);
      // Their residual is 1e-12; the sums of equal quarks are of one sign.
      EXPECT_LE(std::abs(ours[t] - theirs) / std::abs(theirs), first == second ? 6e-13 : 2e-12) << what;
    }
  }
  EXPECT_EQ(found, 16);
}

TEST_P(TwistedData, BridgeOperator) {
  REQUIRE_DATA();
  const HostGauge gauge = load("bridge/conf_04040408.txt.gz", {4, 4, 4, 8});
  const auto domain = std::make_shared<Domain>(gauge.lattice, GetParam());
  int found = 0;
  const nlohmann::json peer = data::read_json("bridge/reference.json");
  for (const auto& entry : peer["entries"]) {
    if (entry["name"] != "Mult twisted mass") continue;
    ++found;
    const double kappa = entry["kappa"], mu = entry["twisted_mass"];
    const auto dirac = dense::dirac(twisted_mass(kappa, mu), gauge, domain, "r12");
    const double ours = 2 * kappa * data::norm_on_ones(dirac->matrix());
    EXPECT_NEAR(ours / entry["value"].get<double>(), 1, 1e-13);
  }
  EXPECT_EQ(found, 1);
}

TEST_P(TwistedData, Cl2qcdUnitGauge) {
  REQUIRE_DATA();
  // Their twisted mass has the opposite sign.
  const Quark quark(unit_gauge(Lattice({4, 4, 4, 4})), twisted_mass(0.15, -4, {1, 1, 1, 1}), GetParam());
  const std::vector<double> ours = quark.pion("point:0,0,0,0");
  const nlohmann::json theirs =
      data::read_json("cl2qcd/reference.json")["unit_gauge_4444"]["twisted_mass_kappa015_mu4"];
  for (int t = 0; t < 4; ++t) {
    EXPECT_NEAR(ours[t] / 64 / theirs[t].get<double>(), 1, 1e-11);
  }
}

ON_EACH_DEVICE(TwistedData);

}  // namespace
