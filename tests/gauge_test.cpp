// Gauge kernels: plaquette, heat bath, over-relaxation.
#include <fmt/format.h>
#include <omp.h>

#include <cmath>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/gauge/heatbath.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

class Gauge : public support::OnDevice {};

double reference_plaquette(const HostGauge& gauge, bool time) {
  double sum = 0;
  for (long long x = 0; x < gauge.lattice.sites(); ++x)
    for (int mu = 1; mu <= 4; ++mu)
      for (int nu = mu + 1; nu <= 4; ++nu) {
        if ((nu == 4) != time) continue;
        const Matrix3 p = reference::path(gauge, x, {mu, nu, -mu, -nu});
        sum += (p[0] + p[4] + p[8]).real();
      }
  return sum / (9.0 * gauge.lattice.sites());
}

TEST_P(Gauge, AveragesAgreeWithTheReference) {
  for (const Coordinates& extent : {Coordinates{4, 4, 4, 8}, Coordinates{8, 4, 4, 4}, Coordinates{2, 6, 4, 10}}) {
    const HostGauge gauge = weak_gauge(Lattice(extent), 0.4, 6);
    const GaugeAverages g = gauge_averages(gauge, domain(gauge.lattice));
    EXPECT_NEAR(g.space_plaquette, reference_plaquette(gauge, false), 1e-14);
    EXPECT_NEAR(g.time_plaquette, reference_plaquette(gauge, true), 1e-14);
    double trace = 0;
    for (const auto& site : gauge.site)
      for (const Matrix3& u : site) trace += (u[0] + u[4] + u[8]).real() / (12.0 * gauge.lattice.sites());
    EXPECT_NEAR(g.link_trace, trace, 1e-14);
  }
}

TEST_P(Gauge, OverrelaxationKeepsActionAndGroup) {
  const Lattice lattice({4, 4, 4, 8});
  HeatbathState state;
  const HostGauge start = weak_gauge(lattice, 0.5, 2);
  const auto d = domain(lattice);
  LinkField links = upload(start, d, find_precision("double"), find_storage("r18"));
  const double before = gauge_averages(links).plaquette;
  const Kernel& kernel = find(GetParam()->kernels(), {.operation = "overrelax", .precision = "double", .links = "r18"});
  for (int mu = 0; mu < 4; ++mu)
    for (int parity = 0; parity < 2; ++parity) {
      Arguments a = arguments_for(*d, links.lanes());
      a.parity = parity;
      a.direction = mu;
      a.links = links.operand();
      GetParam()->run(kernel, a);
    }
  EXPECT_NEAR(gauge_averages(links).plaquette, before, 1e-13);
  const HostGauge after = download(links);
  EXPECT_GT(support::largest_difference(start, after), 0.1);
  EXPECT_LT(check_unitarity(after).unitary, 1e-14);
  EXPECT_LT(check_unitarity(after).determinant, 1e-14);
}

TEST_P(Gauge, HeatbathDependsOnTheGlobalSiteAlone) {
  const Lattice lattice({8, 4, 4, 8});
  const HostGauge start = hot_gauge(lattice, 4);
  HeatbathState state;
  state.overrelax = 2;
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  HeatbathRun one(start, domain(lattice), state);
  one.sweep(), one.sweep();
  omp_set_num_threads(3);
  HeatbathRun three(start, domain(lattice), state);
  three.sweep(), three.sweep();
  omp_set_num_threads(threads);
  EXPECT_EQ(support::largest_difference(one.configuration(), three.configuration()), 0);
}

TEST_P(Gauge, HeatbathContinuesToTheSameBits) {
  const Lattice lattice({4, 4, 4, 8});
  HeatbathState state;
  HeatbathRun whole(hot_gauge(lattice, 4), domain(lattice), state),
      first(hot_gauge(lattice, 4), domain(lattice), state);
  for (int n = 0; n < 4; ++n) whole.sweep();
  first.sweep(), first.sweep();
  HeatbathRun second(first.configuration(), domain(lattice), state_of(state_text(first.state()), "u"));
  second.sweep(), second.sweep();
  EXPECT_EQ(second.state().sweeps, 4u);
  EXPECT_EQ(support::largest_difference(whole.configuration(), second.configuration()), 0);
}

/// Mean and error of the mean of bins of 20.
std::pair<double, double> binned(const std::vector<double>& values) {
  std::vector<double> bins;
  for (std::size_t n = 0; n + 20 <= values.size(); n += 20) {
    double sum = 0;
    for (std::size_t i = n; i < n + 20; ++i) sum += values[i] / 20;
    bins.push_back(sum);
  }
  double mean = 0, square = 0;
  for (const double b : bins) mean += b / bins.size();
  // For a mean the jackknife error is the standard error of the bins.
  for (const double b : bins) square += (b - mean) * (b - mean);
  return {mean, std::sqrt(square / (bins.size() * (bins.size() - 1.0)))};
}

TEST_P(Gauge, HeatbathReproducesPublishedPlaquettes) {
  // beta 6.0: 0.593678 (hep-lat/9602007); beta 5.7: 0.5490. 8^4, 40 sweeps to thermalise, 100 measured.
  for (const auto& [beta, published] : {std::pair{6.0, 0.59368}, {5.7, 0.5490}}) {
    const Lattice lattice({8, 8, 8, 8});
    HeatbathState state;
    state.beta = beta;
    state.seed = 20260101;
    HeatbathRun run(hot_gauge(lattice, state.seed), domain(lattice), state);
    for (int n = 0; n < 40; ++n) run.sweep();
    std::vector<double> plaquettes;
    for (int n = 0; n < 100; ++n) {
      run.sweep();
      plaquettes.push_back(run.averages().plaquette);
    }
    const auto [mean, error] = binned(plaquettes);
    EXPECT_NEAR(mean, published, 3 * error + 5e-4) << beta;
    EXPECT_LT(error, 1e-3);
  }
}

ON_EACH_DEVICE(Gauge);

}  // namespace
