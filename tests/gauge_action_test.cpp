// Gauge actions whose rectangles have a coefficient for each orientation, and such with products of plaquettes: values,
// and forces against differences.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/fields/gauge.hpp"
#include "solvers/hmc/monomial.hpp"
#include "solvers/hmc/noise.hpp"
#include "tests/reference/reference.hpp"
#include "tests/slope.hpp"
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

/// What is not linear in plaquettes beside them, or alone.
GaugeLoops products_of_plaquettes(bool alone) {
  GaugeLoops loops = alone ? GaugeLoops{} : anisotropic_loops();
  loops.two_plaquettes = {-2.1, 0, 1.7};
  loops.squares = {1.4, -0.6};
  return loops;
}

Complex64 trace_of(const HostGauge& gauge, long long x, const std::vector<int>& path) {
  const Matrix3 p = reference::path(gauge, x, path);
  return p[0] + p[4] + p[8];
}

double traces(const HostGauge& gauge, const std::vector<int>& path) {
  double sum = 0;
  for (long long x = 0; x < gauge.lattice.sites(); ++x) sum += trace_of(gauge, x, path).real();
  return sum;
}

/// Of the plaquettes of a plane in space those at x times those at x + t; |tr|^2 and Re tr^2.
std::array<double, 3> products(const HostGauge& gauge, int mu, int nu) {
  std::array<double, 3> sums{};
  for (long long x = 0; x < gauge.lattice.sites(); ++x) {
    const Complex64 z = trace_of(gauge, x, {mu, nu, -mu, -nu});
    sums[0] += z.real() * trace_of(gauge, x, {4, mu, nu, -mu, -nu, -4}).real();
    sums[1] += std::norm(z);
    sums[2] += (z * z).real();
  }
  return sums;
}

double reference_action(const HostGauge& gauge, const GaugeLoops& loops) {
  double sum = 0;
  std::size_t plane = 0;
  for (int nu = 2; nu <= 4; ++nu)
    for (int mu = 1; mu < nu; ++mu, ++plane) {
      const auto [pairs, adjoint, square] = products(gauge, mu, nu);
      sum += loops.planes[plane] * traces(gauge, {mu, nu, -mu, -nu}) +
             loops.rectangles[plane][0] * traces(gauge, {mu, mu, nu, -mu, -mu, -nu}) +
             loops.rectangles[plane][1] * traces(gauge, {nu, nu, mu, -nu, -nu, -mu}) +
             (loops.squares[0] * adjoint + loops.squares[1] * square) / 3;
      if (nu < 4) sum += loops.two_plaquettes[plane] * pairs / 6;
    }
  return -sum / 3;
}

class GaugeAction : public support::OnDevice {
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
  for (const GaugeLoops& loops : {anisotropic_loops(), products_of_plaquettes(false), products_of_plaquettes(true)}) {
    const double expected = reference_action(gauge, loops);
    EXPECT_NEAR(GaugeMonomial("gauge", loops).action(links) / expected, 1, 1e-13);
  }
}

TEST_P(GaugeAction, WithItsConstantIsZeroOnUnitLinks) {
  const EvolvingLinks unit(unit_gauge(domain->lattice()), domain);
  GaugeLoops loops = products_of_plaquettes(false);
  const double without = GaugeMonomial("gauge", loops).action(unit);
  loops.constant = true;
  EXPECT_LT(std::abs(GaugeMonomial("gauge", loops).action(unit)), 1e-12 * std::abs(without));
}

TEST_P(GaugeAction, HasTheForceOfItsDifferences) {
  for (const GaugeLoops& loops : {anisotropic_loops(), products_of_plaquettes(false), products_of_plaquettes(true)}) {
    GaugeMonomial monomial("gauge", loops);
    for (const auto& [slope, expected, size] : support::slopes(monomial, links, 0.005))
      EXPECT_NEAR(slope, expected, 1e-9 * std::abs(expected));
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

ON_EACH_DEVICE(GaugeAction);

}  // namespace
