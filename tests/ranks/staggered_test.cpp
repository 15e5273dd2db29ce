// Improved staggered quarks on parts of a lattice: links, solves of several masses and pions as on the whole.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/source.hpp"
#include "solvers/solve/mass_solver.hpp"
#include "solvers/measure/correlators.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

const Coordinates staggered_extent = {8, 8, 8, 8};

SolveSettings settings(const std::string& precision) {
  SolveSettings s;
  s.method = Method::cg;
  s.precision = precision;
  s.links = "r13";
  s.options.tolerance = 1e-11;
  return s;
}

/// The pion of one colour for two masses, from a corner wall beyond the first part in t.
std::vector<std::vector<double>> pions(const DomainPointer& domain, const HostGauge& gauge) {
  const std::vector<double> masses = {0.2, 0.4};
  const MassSolver solver({"hisq", {{"mass", 0.2}}}, masses, gauge, domain, settings("double"));
  const SourceSettings source = source_of("corner-wall:5", Lattice(staggered_extent));
  SpinorField b(domain, find_precision("double"), Subset::full, 1, 1), x(domain, b.precision(), Subset::full, 2, 1);
  const BasisInfo& basis = find_basis("degrand_rossi");
  upload(make_source(source, domain->lattice(), 0, 1), b, basis);
  for (const SolveReport& r : solver.solve(x, b)) EXPECT_TRUE(r.converged);
  std::vector<std::vector<double>> all;
  HostSpinor column(domain->lattice());
  for (int k = 0; k < 2; ++k) {
    Propagator s(domain, 1);
    download(x, column, basis, k);
    s.set_column(1, column);
    for (const Complex64& z : goldstone_correlator(s, s, source.time())) all.resize(k + 1), all[k].push_back(z.real());
  }
  return all;
}

TEST(Staggered, PionsOfPartsAreThoseOfTheWhole) {
  const HostGauge gauge = weak_gauge(Lattice(staggered_extent), 0.4, 9);
  const auto whole =
      pions(std::make_shared<Domain>(Lattice(staggered_extent), ranks::device(), Communicator::self(), 3), gauge);
  for (const Coordinates& grid : ranks::grids(staggered_extent)) {
    const Lattice here = ranks::local_lattice(staggered_extent, grid);
    if (*std::min_element(here.extent().begin(), here.extent().end()) < 4) continue;
    const auto domain = std::make_shared<Domain>(here, ranks::device(), Communicator::world(), 3);
    const auto parts = pions(domain, ranks::cut(gauge, here));
    for (int k = 0; k < 2; ++k)
      for (int t = 0; t < staggered_extent[3]; ++t)
        EXPECT_NEAR(parts[k][t] / whole[k][t], 1, 1e-9) << ranks::text(grid) << " mass " << k << " t " << t;
  }
}

TEST(Staggered, PartsShorterThanAHopAreRefused) {
  if (ranks::world().size() == 1) return;
  Coordinates grid{1, 1, 1, ranks::world().size()}, small = {8, 8, 8, 2 * ranks::world().size()};
  const Lattice here = ranks::local_lattice(small, grid);
  EXPECT_THROW(Domain(here, ranks::device(), Communicator::world(), 3), WrongLattice);
  EXPECT_NO_THROW(Domain(here, ranks::device(), Communicator::world(), 1));
}

}  // namespace
