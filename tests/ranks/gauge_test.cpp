// Gauge fields on parts of a lattice: the same bits as on the whole.
#include "runtime/fields/gauge.hpp"

#include <cmath>

#include "solvers/gauge/heatbath.hpp"
#include "tests/ranks/support.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

constexpr Coordinates gauge_extent = {8, 8, 4, 16};

/// Links of the bulk as drawn, those of the last slice in z and t times phases.
HostGauge with_phases(const Lattice& lattice) {
  HostGauge gauge = hot_gauge(lattice, 3);
  for (long long i = 0; i < lattice.sites(); ++i)
    for (const auto& [mu, phase] : {std::pair{2, std::polar(1.0, 0.4)}, {3, Complex64(-1)}})
      if (lattice.origin(mu) + lattice.coordinates(i)[mu] == lattice.global_extent(mu) - 1)
        for (Complex64& z : gauge.site[i][mu]) z *= phase;
  return gauge;
}

TEST(GaugeOfParts, IsDrawnByGlobalSite) {
  const Lattice whole(gauge_extent);
  const HostGauge weak = weak_gauge(whole, 0.3, 5), hot = hot_gauge(whole, 6), peer = peer_random_gauge(whole, 7);
  ranks::on_grids(gauge_extent, [&](const Lattice& here) {
    EXPECT_EQ(weak_gauge(here, 0.3, 5).site, ranks::cut(weak, here).site);
    EXPECT_EQ(hot_gauge(here, 6).site, ranks::cut(hot, here).site);
    EXPECT_EQ(peer_random_gauge(here, 7).site, ranks::cut(peer, here).site);
  });
}

TEST(GaugeOfParts, ChecksAreThoseOfTheWhole) {
  HostGauge whole = weak_gauge(Lattice(gauge_extent), 0.3, 5);
  whole.site[whole.lattice.index({7, 7, 3, 15})][1][4] *= 1.001;
  const Unitarity expected = check_unitarity(whole);
  ranks::on_grids(gauge_extent, [&](const Lattice& here) {
    HostGauge part = ranks::cut(whole, here);
    const Unitarity found = check_unitarity(part, ranks::world());
    EXPECT_EQ(found.unitary, expected.unitary);
    EXPECT_EQ(found.determinant, expected.determinant);
    EXPECT_EQ(default_links(part, ranks::world()), "r18");
    EXPECT_THROW(require_su3(part, "a test", ranks::world()), NotSU3);
    EXPECT_EQ(default_links(weak_gauge(here, 0.3, 5), ranks::world()), "r12");
    Coordinates x;
    if (here.find({1, 2, 3, 4}, x)) part.site[here.index(x)][3][0] = NAN;
    const std::string message = support::message_of<BadData>([&] { check_unitarity(part, ranks::world()); });
    EXPECT_NE(message.find("link t of site (1,2,3,4)"), std::string::npos) << message;
  });
}

TEST(GaugeOfParts, BoundaryPhasesAreFoundInAllParts) {
  HostGauge whole = with_phases(Lattice(gauge_extent));
  ASSERT_TRUE(fold_boundary_phases(whole));
  ranks::on_grids(gauge_extent, [&](const Lattice& here) {
    HostGauge part = with_phases(here);
    EXPECT_TRUE(fold_boundary_phases(part, ranks::world()));
    EXPECT_EQ(part.phase, whole.phase);
    EXPECT_EQ(part.site, ranks::cut(whole, here).site);
    EXPECT_FALSE(fold_boundary_phases(part, ranks::world()));
    HostGauge broken = with_phases(here);  // one link of the slice without the phase: none is shared
    Coordinates x;
    if (here.find({7, 7, 1, 15}, x))
      for (Complex64& z : broken.site[here.index(x)][3]) z *= -1;
    fold_boundary_phases(broken, ranks::world());
    EXPECT_EQ(broken.phase[3], 1.0);
    EXPECT_NE(broken.phase[2], 1.0);
  });
}

TEST(GaugeOfParts, APhaseOfAllLinksIsNoneOfTheBoundary) {
  ranks::on_grids(gauge_extent, [&](const Lattice& here) {
    const auto turned = [&](Complex64 all, Complex64 last) {  // the links along t
      HostGauge u = weak_gauge(here, 0.3, 5);
      for (long long i = 0; i < here.sites(); ++i)
        for (Complex64& z : u.link(i, 3))
          z *= all * (here.global_coordinates(i)[3] == gauge_extent[3] - 1 ? last : Complex64(1));
      return u;
    };
    const Complex64 potential = std::polar(1.0, 0.2);
    HostGauge same = turned(potential, 1);
    EXPECT_FALSE(fold_boundary_phases(same, ranks::world()));
    EXPECT_EQ(same.site, turned(potential, 1).site);
    HostGauge both = turned(potential, -1);
    EXPECT_TRUE(fold_boundary_phases(both, ranks::world()));
    EXPECT_EQ(both.phase[3], -1.0);
    EXPECT_EQ(both.site, same.site);
  });
}

TEST(GaugeOfParts, TemporalGaugeGoesOnFromPartToPart) {
  const HostGauge original = hot_gauge(Lattice(gauge_extent), 8);
  const TemporalGauge whole = fix_temporal_gauge(original);
  ranks::on_grids(gauge_extent, [&](const Lattice& here) {
    const TemporalGauge part = fix_temporal_gauge(ranks::cut(original, here), ranks::world());
    EXPECT_EQ(part.gauge.site, ranks::cut(whole.gauge, here).site);
    for (long long i = 0; i < here.sites(); ++i)
      ASSERT_EQ(part.transformation[i], whole.transformation[here.global_index(i)]);
    require_temporal_gauge(part.gauge, ranks::world());
    HostGauge broken = part.gauge;
    Coordinates x;
    if (here.find({0, 0, 0, 7}, x)) broken.site[here.index(x)][3][0] = 0.5;
    EXPECT_THROW(require_temporal_gauge(broken, ranks::world()), UsageError);
  });
}

TEST(GaugeOfParts, AveragesAreThoseOfTheWhole) {
  const HostGauge whole = weak_gauge(Lattice(gauge_extent), 0.4, 6);
  const GaugeAverages expected = gauge_averages(whole, std::make_shared<Domain>(whole.lattice, Device::cpu()));
  ranks::on_grids(gauge_extent, [&](const Lattice& here) {
    const auto domain = std::make_shared<Domain>(here, Device::cpu(), Communicator::world());
    const HostGauge part = ranks::cut(whole, here);
    const LinkField links = upload(part, domain, find_precision("double"), find_storage("r18"));
    for (const GaugeAverages& found : {gauge_averages(part, domain), gauge_averages(links)}) {
      EXPECT_NEAR(found.space_plaquette, expected.space_plaquette, 1e-14);
      EXPECT_NEAR(found.time_plaquette, expected.time_plaquette, 1e-14);
      EXPECT_NEAR(found.plaquette, expected.plaquette, 1e-14);
      EXPECT_NEAR(found.link_trace, expected.link_trace, 1e-14);
      EXPECT_TRUE(ranks::same_everywhere(found.plaquette));
    }
  });
}

TEST(GaugeOfParts, HeatbathGivesTheBitsOfTheWhole) {
  const HostGauge start = hot_gauge(Lattice(gauge_extent), 9);
  HeatbathState state;
  state.overrelax = 2;
  HeatbathRun whole(start, ranks::domain_of(start.lattice), state);
  whole.sweep(), whole.sweep();
  ranks::on_grids(gauge_extent, [&](const Lattice& here) {
    HeatbathRun run(ranks::cut(start, here), ranks::domain_of(here), state);
    run.sweep(), run.sweep();
    EXPECT_EQ(run.configuration().site, ranks::cut(whole.configuration(), here).site);
    EXPECT_TRUE(ranks::same_everywhere(run.averages().plaquette));
  });
}

/// What ranks share may be dropped by some before others: it is there until all have.
TEST(SharedMemoryOfRanks, IsFreedWhenAllHaveDroppedIt) {
  Communicator& all = ranks::world();
  int freed = 0;
  const long long first = all.keep([&] { freed += 1; }), second = all.keep([&] { freed += 10; });
  all.drop(second);
  if (all.rank() == 0) all.drop(first);
  all.free_dropped();
  EXPECT_EQ(freed, all.size() == 1 ? 11 : 10);
  if (all.rank() > 0) all.drop(first);
  all.free_dropped();
  EXPECT_EQ(freed, 11);
}

}  // namespace
