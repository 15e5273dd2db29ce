// Domain-wall quarks on parts of a lattice: sources, solves and residual mass as on the whole.
#include <fmt/format.h>

#include "runtime/fields/gauge.hpp"
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/quark_columns.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/source.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

struct Outcome {
  SolveReport report;
  HostSpinor quark;
  std::vector<double> residual_mass;
};

Outcome solve(const Action& action, const HostGauge& gauge, const DomainPointer& domain) {
  SolveSettings s;
  s.method = Method::cg;
  const Solver solver(action, gauge, domain, s);
  SpinorField source(domain, find_precision("double"), Subset::full), quark = source.like(), middle = source.like();
  upload(make_source(source_of("noise:5", domain->lattice()), domain->lattice(), 2, 1), source, solver.basis());
  Outcome o{
      solver.solve_sources(quark, source, [&](const SpinorField& x) { solver.dirac().midpoint(middle, x); }).front(),
      HostSpinor(domain->lattice()),
      {}};
  HostSpinor half_way(domain->lattice());
  download(quark, o.quark, solver.basis());
  download(middle, half_way, solver.basis());
  o.residual_mass =
      residual_mass(slice_norms(half_way, domain->communicator()), slice_norms(o.quark, domain->communicator()), 1);
  return o;
}

TEST(DomainWallOnRanks, SolvesAsOnTheWhole) {
  const Coordinates extent = {4, 4, 4, 8};
  const HostGauge gauge = weak_gauge(Lattice(extent), 0.3, 21);
  for (const Action& action :
       {Action({find_action("domain_wall"), {{"mass", 0.2}, {"m5", 1.8}}, 4}),
        Action({find_action("moebius"), {{"mass", 0.2}, {"m5", 1.5}, {"b5", 1.5}, {"c5", 0.5}}, 4})}) {
    const Outcome whole = solve(action, gauge, std::make_shared<Domain>(Lattice(extent), ranks::device()));
    for (const Coordinates& grid : ranks::grids(extent)) {
      const Lattice here = ranks::local_lattice(extent, grid);
      const auto domain = std::make_shared<Domain>(here, ranks::device(), Communicator::world());
      const Outcome part = solve(action, ranks::cut(gauge, here), domain);
      const std::string name = fmt::format("{} {}", action.name(), ranks::text(grid));
      EXPECT_TRUE(part.report.converged) << name;
      EXPECT_NEAR(part.report.iterations, whole.report.iterations, 2) << name;
      double difference = 0, size = 0;
      for (long long i = 0; i < here.sites(); ++i)
        for (int k = 0; k < 12; ++k) {
          const Complex64 expected = whole.quark.site[here.global_index(i)][k];
          difference += std::norm(part.quark.site[i][k] - expected);
          size += std::norm(expected);
        }
      EXPECT_LE(std::sqrt(ranks::world().sum(difference) / ranks::world().sum(size)), 1e-8) << name;
      for (int t = 0; t < extent[3]; ++t)
        EXPECT_NEAR(part.residual_mass[t] / whole.residual_mass[t], 1, 1e-7) << name << " t " << t;
    }
  }
}

}  // namespace
