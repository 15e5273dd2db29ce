// Twisted mass against what other codes obtain.
#include <fmt/format.h>

#include "runtime/gauge.hpp"
#include "tests/quark.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using data::load;
using data::Quark;
using data::report;

WilsonParameters parameters(double kappa, double mu, std::array<Complex64, 4> boundary) {
  WilsonParameters p = data::parameters(kappa, boundary);
  p.twist.mu = mu;
  return p;
}

class TwistedData : public testing::TestWithParam<std::shared_ptr<Device>> {};

TEST_P(TwistedData, NissaPion) {
  REQUIRE_DATA();
  const HostGauge gauge = load("nissa/L4T8conf", {4, 4, 4, 8});
  const nlohmann::json peer = data::read_json("nissa/reference/twisted_mass_2pt.json");
  int found = 0;
  for (const auto& entry : peer["correlators"]) {
    if (entry["m1"] != entry["m2"] || entry["r1"] != entry["r2"]) continue;
    ++found;
    const double mu = entry["m1"].get<double>() * (entry["r1"] == 0 ? 1 : -1);
    const std::vector<double> ours =
        Quark(gauge, parameters(0.177, mu, {1, 1, 1, -1}), GetParam()).pion("point:0,0,0,4");
    for (int t = 0; t < 8; ++t) {
      const double theirs = entry["P5P5"][t][0];
      report("nissa", fmt::format("C({}), mu {}", t, mu), theirs, ours[t]);
      EXPECT_NEAR(ours[t] / theirs, 1, 6e-13);
    }
  }
  EXPECT_EQ(found, 4);
}

TEST_P(TwistedData, BridgeOperator) {
  REQUIRE_DATA();
  const HostGauge gauge = load("bridge/conf_04040408.txt.gz", {4, 4, 4, 8});
  const auto domain = std::make_shared<Domain>(gauge.lattice, GetParam());
  const auto links = std::make_shared<LinkField>(upload(gauge, domain, find_precision("double"), find_storage("r12")));
  HostSpinor ones(gauge.lattice);
  for (HostSite& site : ones.site) site.fill({1, 1});
  int found = 0;
  const nlohmann::json peer = data::read_json("bridge/reference.json");
  for (const auto& entry : peer["entries"]) {
    if (entry["name"] != "Mult twisted mass") continue;
    ++found;
    const double kappa = entry["kappa"], mu = entry["twisted_mass"];
    const WilsonHopping hopping(links, find_precision("double"), find_basis("non_relativistic"),
                                parameters(kappa, mu, {1, 1, 1, -1}));
    // The peer's source is 1 + i in its Dirac basis, which is that of the kernel: the numbers go in unrotated.
    SpinorField b = hopping.field(Subset::full, 1), x = b.like();
    upload(ones, b, find_basis("degrand_rossi"));
    WilsonMatrix(hopping).apply(x, b, Dagger::no);
    HostSpinor result(gauge.lattice);
    download(x, result, find_basis("degrand_rossi"));
    const double ours = 2 * kappa * std::sqrt(reference::dot(result, result).real());
    report("bridge", "Mult twisted mass", entry["value"], ours);
    EXPECT_NEAR(ours / entry["value"].get<double>(), 1, 1e-13);
  }
  EXPECT_EQ(found, 1);
}

TEST_P(TwistedData, Cl2qcdUnitGauge) {
  REQUIRE_DATA();
  // Their twisted mass has the opposite sign.
  const Quark quark(unit_gauge(Lattice({4, 4, 4, 4})), parameters(0.15, -4, {1, 1, 1, 1}), GetParam());
  const std::vector<double> ours = quark.pion("point:0,0,0,0");
  const nlohmann::json theirs =
      data::read_json("cl2qcd/reference.json")["unit_gauge_4444"]["twisted_mass_kappa015_mu4"];
  for (int t = 0; t < 4; ++t) {
    report("cl2qcd unit gauge, twisted mass", fmt::format("C({})", t), theirs[t], ours[t] / 64);
    EXPECT_NEAR(ours[t] / 64 / theirs[t].get<double>(), 1, 1e-11);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TwistedData, testing::ValuesIn(support::devices()),
                         [](const auto& info) { return support::test_name(info.param->name()); });

}  // namespace
