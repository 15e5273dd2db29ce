// Gauge actions whose rectangles have a coefficient for each orientation: values, and forces against differences.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/fields/gauge.hpp"
#include "solvers/hmc/monomial.hpp"
#include "solvers/hmc/noise.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// No two coefficients are the same; rectangles of some planes are missing in one orientation or in both.
GaugeLoops anisotropic_loops() {
  GaugeLoops loops;
  loops.planes = {1.1, 0.9, 1.3, 4.1, 3.7, 4.4};
  loops.rectangles = {{{-0.3, 0.2}, {-0.1, -0.1}, {0, 0}, {-0.5, 0}, {0, -0.4}, {-0.25, 0.7}}};
  return loops;
}

double traces(const HostGauge& gauge, const std::vector<int>& path) {
  double sum = 0;
  for (long long x = 0; x < gauge.lattice.sites(); ++x) {
    const Matrix3 p = reference::path(gauge, x, path);
    sum += (p[0] + p[4] + p[8]).real();
  }
  return sum;
}

double reference_action(const HostGauge& gauge, const GaugeLoops& loops) {
  double sum = 0;
  std::size_t plane = 0;
  for (int nu = 2; nu <= 4; ++nu)
    for (int mu = 1; mu < nu; ++mu, ++plane)
      sum += loops.planes[plane] * traces(gauge, {mu, nu, -mu, -nu}) +
             loops.rectangles[plane][0] * traces(gauge, {mu, mu, nu, -mu, -mu, -nu}) +
             loops.rectangles[plane][1] * traces(gauge, {nu, nu, mu, -nu, -nu, -mu});
  return -sum / 3;
}

/// The sum of Re tr P F over links.
double product(const LinkField& p, const LinkField& f) {
  const HostGauge one = download(p), other = download(f);
  double sum = 0;
  for (std::size_t x = 0; x < one.site.size(); ++x)
    for (int mu = 0; mu < directions; ++mu)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum += (one.site[x][mu][3 * i + j] * other.site[x][mu][3 * j + i]).real();
  return sum;
}

class GaugeAction : public testing::TestWithParam<std::shared_ptr<Device>> {
 protected:
  DomainPointer domain = std::make_shared<Domain>(Lattice({4, 6, 4, 8}), GetParam());
  HostGauge gauge = weak_gauge(domain->lattice(), 0.4, 5);
  EvolvingLinks links{gauge, domain};

  LinkField force(const GaugeLoops& loops) const {
    LinkField f = links.cleared();
    GaugeMonomial("gauge", loops).force(links, 1, f);
    return f;
  }
};

TEST_P(GaugeAction, IsTheSumOverLoopsOfEachOrientation) {
  const GaugeLoops loops = anisotropic_loops();
  const double expected = reference_action(gauge, loops);
  EXPECT_NEAR(GaugeMonomial("gauge", loops).action(links) / expected, 1, 1e-13);
}

/// Along U' = P U dS/dtau = 2 sum tr P F, with F = dP/dtau of S; differences of sixth order.
TEST_P(GaugeAction, HasTheForceOfItsDifferences) {
  GaugeMonomial monomial("gauge", anisotropic_loops());
  const LinkField f = force(anisotropic_loops());
  const double h = 0.005, weights[] = {0.75, -0.15, 1.0 / 60};
  for (const int number : {1, 2, 3}) {
    LinkField p = links.cleared();
    GaussianNoise(3, number).momenta(p);
    const auto start = links.keep();
    const auto action_at = [&](double time) {
      links.move(p, time);
      const double action = monomial.action(links);
      links.restore(start);
      return action;
    };
    double slope = 0;
    for (int n = 1; n <= 3; ++n) slope += weights[n - 1] * (action_at(n * h) - action_at(-n * h)) / h;
    const double expected = 2 * product(p, f);
    EXPECT_NEAR(slope, expected, 1e-9 * std::abs(expected)) << number;
  }
}

/// Equal rectangles of a plane and such that differ take different ways.
TEST_P(GaugeAction, OfNearlyEqualRectanglesIsThatOfEqualOnes) {
  GaugeLoops equal = anisotropic_loops();
  equal.all_rectangles(-0.3);
  GaugeLoops nearly = equal;
  for (auto& [along_mu, along_nu] : nearly.rectangles) along_nu = std::nextafter(along_nu, 0);
  EXPECT_LT(support::largest_difference(download(force(equal)), download(force(nearly))), 1e-13);
  EXPECT_NEAR(GaugeMonomial("", equal).action(links) / GaugeMonomial("", nearly).action(links), 1, 1e-14);
}

INSTANTIATE_TEST_SUITE_P(Devices, GaugeAction, testing::ValuesIn(support::devices()),
                         [](const auto& info) { return support::test_name(info.param->name()); });

}  // namespace
