// Smearing of parts of a lattice: what the whole gives.
#include "solvers/measure/smearing.hpp"

#include "runtime/fields/gauge.hpp"
#include "solvers/gauge/gradient_flow.hpp"
#include "solvers/gauge/link_smearing.hpp"
#include "solvers/measure/source.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

constexpr Coordinates smearing_extent = {8, 8, 8, 8};

TEST(SmearingOfParts, LinksAreThoseOfTheWhole) {
  const Lattice whole(smearing_extent);
  const HostGauge gauge = weak_gauge(whole, 0.3, 5);
  constexpr const char* texts[] = {"stout:0.1,2", "ape:0.5,1,space", "hyp:0.75,0.6,0.3,1"};
  const auto smeared = ranks::shared(
      std::size(texts),
      [&](std::size_t n) { return smear(link_smearing_of(texts[n]), gauge, ranks::domain_of(whole)); },
      [&](std::size_t) { return HostGauge(whole); });
  for (std::size_t n = 0; n < std::size(texts); ++n) {
    const char* text = texts[n];
    const HostGauge& expected = smeared[n];
    for (const Coordinates& grid : ranks::grids(smearing_extent)) {
      SCOPED_TRACE(ranks::text(grid) + " " + text);
      const Lattice here = ranks::local_lattice(smearing_extent, grid);
      const HostGauge part = smear(link_smearing_of(text), ranks::cut(gauge, here), ranks::domain_of(here));
      const HostGauge wanted = ranks::cut(expected, here);
      EXPECT_EQ(part.site, wanted.site);
    }
  }
}

TEST(SmearingOfParts, QuarksAreThoseOfTheWhole) {
  const BasisInfo& basis = find_basis("degrand_rossi");
  const auto smeared = [&](const Lattice& lattice, const char* text) {
    const DomainPointer domain = ranks::domain_of(lattice);
    const auto links = std::make_shared<LinkField>(
        upload(weak_gauge(lattice, 0.3, 5), domain, find_precision("double"), find_storage("r12")));
    SpinorField psi(domain, find_precision("double"), Subset::full);
    upload(make_source(source_of("noise:3,z4", lattice), lattice, 1, 2), psi, basis);
    smear(quark_smearing_of(text), links, psi);
    HostSpinor result(lattice);
    download(psi, result, basis);
    return result;
  };
  for (const char* text : {"jacobi:0.2,3,1.5", "wuppertal:0.3,3"}) {
    const HostSpinor expected = smeared(Lattice(smearing_extent), text);
    for (const Coordinates& grid : ranks::grids(smearing_extent)) {
      SCOPED_TRACE(ranks::text(grid) + " " + text);
      const Lattice here = ranks::local_lattice(smearing_extent, grid);
      EXPECT_EQ(smeared(here, text).site, ranks::cut(expected, here).site);
    }
  }
}

TEST(SmearingOfParts, FlowIsThatOfTheWhole) {
  const auto flowed = [](const Lattice& lattice, std::vector<FlowPoint>& points) {
    GradientFlow flow(weak_gauge(lattice, 0.3, 5), ranks::domain_of(lattice));
    for (int n = 0; n < 2; ++n) {
      points.push_back(flow.measure());
      flow.step(0.02);
    }
    points.push_back(flow.measure());
    return flow.links();
  };
  constexpr Coordinates extent = {4, 8, 4, 8};
  std::vector<FlowPoint> expected;
  const HostGauge whole = flowed(Lattice(extent), expected);
  ranks::on_grids(extent, [&](const Lattice& here) {
    std::vector<FlowPoint> found;
    EXPECT_EQ(flowed(here, found).site, ranks::cut(whole, here).site);
    for (std::size_t n = 0; n < expected.size(); ++n) {
      EXPECT_EQ(found[n].plaquette_energy, expected[n].plaquette_energy);
      EXPECT_EQ(found[n].clover_energy, expected[n].clover_energy);
      EXPECT_EQ(found[n].charge, expected[n].charge);
    }
  });
}

}  // namespace
