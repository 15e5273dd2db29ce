// Solvers on parts of a lattice: the same true residual and, within rounding, the same iterations as on the whole.
#include <fmt/format.h>

#include <string_view>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "runtime/halo.hpp"
#include "solvers/solve.hpp"
#include "solvers/source.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;

const Coordinates extent = {8, 8, 8, 8};

struct Case {
  Method method;
  const char* precision;
  const char* links = "r12";
  double csw = 0;
  int rhs = 1;
  const char* preconditioner = "none";
  Twist twist = {};
};

struct Outcome {
  std::vector<SolveReport> reports;
  std::vector<HostSpinor> x;  ///< flavours fastest
};

Outcome solve(const Case& c, const HostGauge& gauge, const DomainPointer& domain) {
  WilsonParameters p;
  p.mass = -0.3;
  p.csw_r = p.csw_t = c.csw;
  p.twist = c.twist;
  SolveSettings s;
  s.method = c.method;
  s.precision = c.precision;
  s.links = c.links;
  s.parameters.preconditioner = preconditioner_of(c.preconditioner);
  const WilsonSolver solver(gauge, domain, p, s);
  SpinorField b = solver.field(c.rhs), x = solver.field(c.rhs), sources = b.by_slice(), solutions = x.by_slice();
  for (int r = 0; r < sources.rhs(); ++r)
    upload(make_source(source_of(fmt::format("noise:{}", 3 + r), domain->lattice()), domain->lattice(), r % 4, r % 3),
           sources, solver.basis(), r);
  Outcome outcome{solver.solve_all(x, b), {}};
  for (int r = 0; r < sources.rhs(); ++r)
    download(solutions, outcome.x.emplace_back(domain->lattice()), solver.basis(), r);
  return outcome;
}

/// What M makes of a field, alone on a domain.
HostSpinor applied(const HoppingTerm& hopping, const HostSpinor& psi) {
  SpinorField in(hopping.domain(), hopping.precision(), Subset::full), out = in.like();
  HostSpinor here(hopping.domain()->lattice());
  here.site = psi.site;
  upload(here, in, hopping.basis());
  WilsonMatrix(hopping).apply(out, in, Dagger::no);
  download(out, here, hopping.basis());
  return here;
}

TEST(Schwarz, HopsThatLeaveThePartFindZero) {
  const HostGauge gauge = hot_gauge(Lattice(extent), 21);
  const auto device = ranks::device();
  WilsonParameters p;
  p.mass = -0.2;
  for (const Coordinates& grid : ranks::grids()) {
    const Lattice here = ranks::part(extent, grid);
    // The same on the whole lattice by links that are zero between parts.
    HostGauge severed = gauge;
    HostSpinor psi = make_source(source_of("noise:8", severed.lattice), severed.lattice, 1, 2);
    for (long long i = 0; i < severed.lattice.sites(); ++i)
      for (int mu = 0; mu < directions; ++mu)
        if (here.split(mu) && (severed.lattice.coordinates(i)[mu] + 1) % here.extent(mu) == 0)
          severed.site[i][mu] = Matrix3{};
    const auto links = [&](const HostGauge& g, const DomainPointer& domain) {
      return std::make_shared<LinkField>(upload(g, domain, find_precision("double"), find_storage("r18")));
    };
    const auto whole = std::make_shared<Domain>(severed.lattice, device);
    const auto part = std::make_shared<Domain>(here, device, Communicator::world());
    const BasisInfo& basis = find_basis("non_relativistic");
    const WilsonHopping expected(links(severed, whole), find_precision("double"), basis, p);
    const WilsonHopping full(links(ranks::cut(gauge, here), part), find_precision("double"), basis, p);
    const HostSpinor all = applied(expected, psi), mine = applied(full.cut(), ranks::cut(psi, here));
    for (long long i = 0; i < here.sites(); ++i)
      for (int k = 0; k < 12; ++k)
        ASSERT_LE(std::abs(mine.site[i][k] - all.site[here.global_index(i)][k]), 1e-14) << "grid " << grid[3];
  }
}

class Solvers : public testing::Test {
 protected:
  void compare(const Case& c, const HostGauge& gauge, Policy policy, const Coordinates& grid) {
    const auto device = ranks::device();
    const Outcome whole = solve(c, gauge, std::make_shared<Domain>(Lattice(extent), device));
    const Lattice here = ranks::part(extent, grid);
    const auto domain = std::make_shared<Domain>(here, device, Communicator::world());
    domain->halos().use(policy);
    const Outcome part = solve(c, ranks::cut(gauge, here), domain);
    const std::string name = fmt::format("{} {} {} policy {}", int(c.method), c.precision, c.links, name_of(policy));
    for (int r = 0; r < c.rhs; ++r) {
      EXPECT_TRUE(part.reports[r].converged) << name;
      EXPECT_LE(part.reports[r].residual, 1e-10) << name;
      // Schwarz depends on the parts: its iterations do, too.
      const int iterations = whole.reports[r].iterations;
      const bool schwarz = std::string_view(c.preconditioner).starts_with("schwarz");
      EXPECT_NEAR(part.reports[r].iterations, iterations, schwarz ? iterations : 1 + 0.05 * iterations) << name;
    }
    for (std::size_t r = 0; r < whole.x.size(); ++r) {
      double difference = 0, size = 0;
      for (long long i = 0; i < here.sites(); ++i)
        for (int k = 0; k < 12; ++k) {
          const Complex64 expected = whole.x[r].site[here.global_index(i)][k];
          difference += std::norm(part.x[r].site[i][k] - expected);
          size += std::norm(expected);
        }
      EXPECT_LE(std::sqrt(ranks::world().sum(difference) / ranks::world().sum(size)), 1e-8) << name;
    }
  }
};

TEST_F(Solvers, ReachTheSameSolutionWithATwistedMass) {
  if (ranks::world().size() == 1) return;
  const HostGauge gauge = weak_gauge(Lattice(extent), 0.25, 11);
  std::vector<Case> cases = {{Method::cg, "double-half", "r12", 0, 2, "none", {.mu = 0.3}},
                             {Method::cg, "double-half", "r12", 1.2, 1, "none", {.mu = 0.3}}};
  const bool gpu = ranks::device()->asynchronous();
  if (!gpu)  // for GPUs a row of the profile would need `ranks = [true]`
    for (const double csw : {0.0, 1.2})
      cases.push_back({Method::cg, "double", "r12", csw, 2, "none", {.mu = 0.3, .epsilon = 0.1, .flavours = 2}});
  const auto grids = ranks::grids();
  int turn = 0;
  for (const Case& c : cases)
    for (const Policy policy : {Policy::first, gpu ? Policy::fused : Policy::overlap})
      compare(c, gauge, policy, grids[turn++ % grids.size()]);
}

TEST_F(Solvers, ReachTheSameSolutionOnAnyGrid) {
  if (ranks::world().size() == 1) return;
  const HostGauge gauge = weak_gauge(Lattice(extent), 0.25, 11);
  const Case cases[] = {{Method::cg, "double"},
                        {Method::bicgstab, "double", "r12", 1.2},
                        {Method::bicgstab, "double-half", "r12", 1.2, 2},
                        {Method::cg, "double-single"},
                        {Method::gcr, "double", "r12", 0, 1, "mr:4"},
                        {Method::gcr, "double-single-half", "r12", 1.2, 2, "schwarz-mr:4"}};
  const auto grids = ranks::grids();
  int turn = 0;
  for (const Case& c : cases)
    for (const Policy policy : {Policy::first, Policy::overlap, Policy::peer, Policy::fused}) {
      const bool gpu = ranks::device()->asynchronous();
      if (policy == Policy::fused && !gpu) continue;
      compare(c, gauge, policy, grids[turn++ % grids.size()]);
    }
}

}  // namespace
