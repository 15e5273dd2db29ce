// Sources and correlators on parts of a lattice.
#include "solvers/measure/source.hpp"

#include "runtime/error.hpp"
#include "runtime/fields/site_random.hpp"
#include "solvers/measure/correlators.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

constexpr Coordinates source_extent = {4, 4, 4, 16};

/// Independent numbers in all elements, falling in time as propagators do.
Propagator some_propagator(const DomainPointer& domain) {
  const Lattice& lattice = domain->lattice();
  Propagator s(domain);
  HostSpinor column(lattice);
  for (int n = 0; n < 12; ++n) {
    for (long long i = 0; i < lattice.sites(); ++i) {
      Random random = random_at(lattice, i, {11, static_cast<unsigned long long>(n)});
      const int t = lattice.origin(3) + lattice.coordinates(i)[3];
      for (Complex64& z : column.site[i]) {
        const double re = random.uniform() - 0.3;
        z = Complex64(re, random.uniform() - 0.5) * std::exp(-0.2 * t);
      }
    }
    s.set_column(n, column);
  }
  return s;
}

TEST(SourceOfParts, IsCutFromTheWhole) {
  const Lattice whole(source_extent);
  for (const Coordinates& grid : ranks::grids(source_extent))
    for (const char* text : {"point:1,3,2,13", "wall:9", "noise:5", "noise:5,z4", "gaussian:3,0,1,2:2,5"}) {
      SCOPED_TRACE(ranks::text(grid) + " " + text);
      const Lattice here = ranks::local_lattice(source_extent, grid);
      const SourceSettings settings = source_of(text, here);
      EXPECT_EQ(make_source(settings, here, 2, 1).site, ranks::cut(make_source(settings, whole, 2, 1), here).site);
      EXPECT_THROW(source_of("point:0,0,0,16", here), UsageError);
    }
}

TEST(CorrelatorsOfParts, AreThoseOfTheWhole) {
  const Propagator whole = some_propagator(std::make_shared<Domain>(Lattice(source_extent), ranks::device()));
  const Complex64 phase = std::polar(1.0, 0.7);
  for (const int source_t : {0, 11}) {
    const auto mesons = meson_correlators(whole, source_t);
    const auto proton = proton_correlator(whole, source_t, phase);
    for (const Coordinates& grid : ranks::grids(source_extent)) {
      SCOPED_TRACE(ranks::text(grid));
      const Propagator part = some_propagator(
          std::make_shared<Domain>(ranks::local_lattice(source_extent, grid), ranks::device(), Communicator::world()));
      const auto our_mesons = meson_correlators(part, source_t);
      const auto our_proton = proton_correlator(part, source_t, phase);
      ASSERT_EQ(our_mesons[0].size(), mesons[0].size());
      for (std::size_t t = 0; t < proton.size(); ++t) {
        for (int k = 0; k < 16; ++k) {
          EXPECT_EQ(our_mesons[k][t], mesons[k][t]);
          EXPECT_TRUE(ranks::same_everywhere(our_mesons[k][t]));
        }
        EXPECT_EQ(our_proton[t], proton[t]);
        EXPECT_TRUE(ranks::same_everywhere(our_proton[t].real()));
      }
    }
  }
}

}  // namespace
