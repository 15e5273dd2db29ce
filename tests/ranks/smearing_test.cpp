// Smearing of parts of a lattice: what the whole gives.
#include "solvers/smearing.hpp"

#include "runtime/error.hpp"
#include "runtime/expression.hpp"
#include "runtime/gauge.hpp"
#include "solvers/gradient_flow.hpp"
#include "solvers/link_smearing.hpp"
#include "solvers/source.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

constexpr Coordinates extent = {8, 8, 8, 16};

DomainPointer domain_of(const Lattice& lattice) {
  return std::make_shared<Domain>(lattice, ranks::device(),
                                  lattice.parts() > 1 ? Communicator::world() : Communicator::self());
}

TEST(SmearingOfParts, LinksAreThoseOfTheWhole) {
  const Lattice whole(extent);
  const HostGauge gauge = weak_gauge(whole, 0.3, 5);
  constexpr const char* texts[] = {"stout:0.1,2", "ape:0.5,1,space", "hyp:0.75,0.6,0.3,1"};
  const auto smeared = ranks::shared(
      std::size(texts), [&](std::size_t n) { return smear(link_smearing_of(texts[n]), gauge, domain_of(whole)); },
      [&](std::size_t) { return HostGauge(whole); });
  for (std::size_t n = 0; n < std::size(texts); ++n) {
    const char* text = texts[n];
    const HostGauge& expected = smeared[n];
    for (const Coordinates& grid : ranks::grids(extent)) {
      SCOPED_TRACE(ranks::text(grid) + " " + text);
      const Lattice here = ranks::part(extent, grid);
      const HostGauge part = smear(link_smearing_of(text), ranks::cut(gauge, here), domain_of(here));
      const HostGauge wanted = ranks::cut(expected, here);
      double largest = 0;
      for (std::size_t x = 0; x < part.site.size(); ++x)
        for (int mu = 0; mu < directions; ++mu)
          for (int n = 0; n < 9; ++n)
            largest = std::max(largest, std::abs(part.site[x][mu][n] - wanted.site[x][mu][n]));
      EXPECT_LT(largest, 1e-15);
    }
  }
}

TEST(SmearingOfParts, QuarksAreThoseOfTheWhole) {
  const BasisInfo& basis = find_basis("degrand_rossi");
  const auto smeared = [&](const Lattice& lattice, const char* text) {
    const DomainPointer domain = domain_of(lattice);
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
    const HostSpinor expected = smeared(Lattice(extent), text);
    for (const Coordinates& grid : ranks::grids(extent)) {
      SCOPED_TRACE(ranks::text(grid) + " " + text);
      const Lattice here = ranks::part(extent, grid);
      const HostSpinor part = smeared(here, text), wanted = ranks::cut(expected, here);
      double largest = 0;
      for (std::size_t x = 0; x < part.site.size(); ++x)
        for (int n = 0; n < 12; ++n) largest = std::max(largest, std::abs(part.site[x][n] - wanted.site[x][n]));
      EXPECT_LT(largest, 1e-13);  // the expression and the hopping term round differently
    }
  }
}

TEST(SmearingOfParts, WhatReadsNeighboursAloneIsRefused) {
  if (ranks::world().size() == 1) GTEST_SKIP() << "one rank has the whole lattice";
  const Lattice here = ranks::part(extent, ranks::grids(extent).at(0));
  const HostGauge gauge = unit_gauge(here);
  EXPECT_THROW(GradientFlow(gauge, domain_of(here), find_precision("double")), UsageError);
  const LinkField u = upload(gauge, domain_of(here), find_precision("double"), find_storage("r18"));
  EXPECT_THROW(evaluate("plaquette_energy", {u}), UsageError);
}

}  // namespace
