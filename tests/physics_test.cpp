// Properties that hold whatever the implementation: gauge covariance, dispersion, invariance of correlators.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "runtime/fields/gauge.hpp"
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/smearing.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/source.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

class Physics : public support::OnDevice {
 protected:
  /// M psi, or M^+ psi.
  HostSpinor dirac(const HostGauge& gauge, const HostSpinor& psi, const Action& p, Dagger dagger = Dagger::no) const {
    return dense::apply(dense::dirac(p, gauge, domain(gauge.lattice), "r12")->matrix(), {psi}, dagger)[0];
  }
  Solver solver(const HostGauge& gauge, const Action& p, double tolerance = 1e-12) const {
    SolveSettings s;
    s.options.tolerance = tolerance;
    return Solver(p, gauge, domain(gauge.lattice), s);
  }
  Propagator propagator(const HostGauge& gauge, const Action& p, const std::string& source) const {
    const Solver s = solver(gauge, p);
    Propagator result(s.domain());
    const SourceSettings settings = source_of(source, gauge.lattice);
    const SpinorField shape(s.domain(), find_precision("double"), Subset::full);
    for (int n = 0; n < 12; ++n) {
      SpinorField b = shape.like(), x = shape.like();
      upload(make_source(settings, gauge.lattice, n / 3, n % 3), b, s.basis());
      EXPECT_TRUE(s.solve(x, b).converged);
      result.set_column(n / 3, n % 3, dense::get_one(x, s.basis()));
    }
    return result;
  }
};

using support::rounding;

TEST_P(Physics, FreeFieldHasWilsonDispersion) {
  // On a plane wave of momentum p, M is m + sum_mu (1 - cos p_mu) + i sum_mu gamma_mu sin p_mu.
  const Lattice lattice({4, 6, 8, 4});
  const Action p = dense::wilson(0.3);
  const std::array<double, 4> momentum = {2 * std::numbers::pi / 4, -2 * std::numbers::pi / 6, 4 * std::numbers::pi / 8,
                                          std::numbers::pi / 4};  // antiperiodic in time
  HostSpinor wave(lattice), expected(lattice);
  double scalar = 0.3;
  reference::SpinMatrix symbol = {};
  for (int mu = 0; mu < 4; ++mu) {
    scalar += 1 - std::cos(momentum[mu]);
    symbol =
        reference::operator+(symbol, reference::operator*(Complex64(0, std::sin(momentum[mu])), reference::gamma(mu)));
  }
  symbol = reference::operator+(symbol, reference::operator*(Complex64(scalar), reference::identity()));
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    double phase = 0;
    for (int mu = 0; mu < 4; ++mu) phase += momentum[mu] * x[mu];
    for (int k = 0; k < 12; ++k) wave.site[i][k] = std::polar(1.0 + 0.1 * k, phase + k);
  }
  const HostSpinor result = dirac(unit_gauge(lattice), wave, p);
  EXPECT_LT(support::compare(result, reference::multiply(symbol, wave)).norm, rounding);
}

TEST_P(Physics, SmearingIsGaugeCovariantAndKeepsTimeSlices) {
  const Lattice lattice({4, 4, 4, 8});
  const HostGauge gauge = weak_gauge(lattice, 0.3, 8);
  const auto d = domain(lattice);
  const auto smear = [&](const HostGauge& u, const HostSpinor& psi) {
    const auto links = std::make_shared<LinkField>(upload(u, d, find_precision("double"), find_storage("r12")));
    SpinorField f(d, find_precision("double"), Subset::full);
    upload(psi, f, find_basis("degrand_rossi"));
    quarksmith::smear(quark_smearing_of("gaussian:1.7,4"), links, f);
    HostSpinor result(lattice);
    download(f, result, find_basis("degrand_rossi"));
    return result;
  };
  const HostSpinor point = make_source(source_of("point:1,2,3,5", lattice), lattice, 2, 1);
  const HostSpinor smeared = smear(gauge, point);
  for (long long i = 0; i < lattice.sites(); ++i) {
    double size = 0;
    for (const Complex64& z : smeared.site[i]) size += std::norm(z);
    if (lattice.coordinates(i)[3] != 5) {
      EXPECT_EQ(size, 0);
    }
  }
  const auto g = reference::random_gauge_transformation(lattice, 5);
  EXPECT_LT(support::compare(smear(reference::transform(gauge, g), reference::transform(point, g)),
                             reference::transform(smeared, g))
                .norm,
            rounding);
}

TEST_P(Physics, CorrelatorsAreGaugeInvariantAndMoveWithTheSource) {
  const Lattice lattice({4, 4, 4, 6});
  const HostGauge gauge = weak_gauge(lattice, 0.3, 8);
  const Action p = dense::wilson(0.2);
  const Propagator s = propagator(gauge, p, "point:0,1,2,3");
  const auto mesons = meson_correlators(s, 3);
  const auto proton = proton_correlator(s, 3, p.setting().boundary[3]);
  const auto g = reference::random_gauge_transformation(lattice, 5);
  const Propagator moved = propagator(reference::transform(gauge, g), p, "point:0,1,2,3");
  const auto mesons_g = meson_correlators(moved, 3);
  const auto proton_g = proton_correlator(moved, 3, p.setting().boundary[3]);
  for (int t = 0; t < 6; ++t) {
    for (int k = 0; k < 16; ++k)
      EXPECT_NEAR(mesons_g[k][t], mesons[k][t], 1e-9 * mesons[15][t]) << meson_names()[k] << t;
    EXPECT_LT(std::abs(proton_g[t] - proton[t]), 1e-9 * std::abs(proton[0]));
  }
  // The pion is the sum of |S|^2.
  double sum = 0;
  const int space = lattice.space_sites();
  HostSpinor column(lattice);
  for (int n = 0; n < 12; ++n) {
    s.get_column(n, column);
    for (int i = 0; i < space; ++i)
      for (const Complex64& z : column.site[3 * space + i]) sum += std::norm(z);
  }
  EXPECT_NEAR(mesons[15][0], sum, 1e-12 * sum);
}

TEST_P(Physics, HeavyProtonFallsWithThreeQuarkMasses) {
  // Free heavy quarks, hopping expansion: each step in time costs every quark a factor kappa (1 + gamma_t), so that
  // C(t+1)/C(t) -> (2 kappa)^3 as kappa -> 0; the pion falls with (2 kappa)^2.
  const Lattice lattice({4, 4, 4, 12});
  const double kappa = 0.01;
  const Action p = dense::wilson(1 / (2 * kappa) - 4);
  const Propagator s = propagator(unit_gauge(lattice), p, "point:0,0,0,9");
  const auto proton = proton_correlator(s, 9, p.setting().boundary[3]);
  const auto mesons = meson_correlators(s, 9);
  for (int t = 0; t < 4; ++t) {  // crosses the boundary between t = 2 and 3
    EXPECT_GT(proton[t].real(), 0) << t;
    EXPECT_LT(std::abs(proton[t].imag()), 1e-12 * proton[t].real()) << t;
    // At t = 0 both signs of gamma_t contribute: the pion falls by half as much in the first step.
    if (t == 0) continue;
    EXPECT_NEAR(mesons[15][t] / mesons[15][t - 1] / std::pow(2 * kappa, 2), t == 1 ? 0.5 : 1, 0.03) << t;
    if (t == 1) continue;
    EXPECT_NEAR(proton[t].real() / proton[t - 1].real() / std::pow(2 * kappa, 3), 1, 0.03) << t;
  }
}

ON_EACH_DEVICE(Physics);

}  // namespace
