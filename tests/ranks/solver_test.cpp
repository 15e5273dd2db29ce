// Solvers on parts of a lattice: the same true residual and, within rounding, the same iterations as on the whole.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/hopping.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/source.hpp"
#include "tests/dense.hpp"
#include "tests/ranks/support.hpp"
#include "tests/rounded.hpp"

namespace {

using namespace quarksmith;

const Coordinates solver_extent = {8, 8, 8, 8};

struct Case {
  Method method;
  const char* precision;
  const char* links = "r12";
  double csw = 0;
  int rhs = 1;
  const char* preconditioner = "none";
  double mu = 0, epsilon = 0;
  int flavours() const { return epsilon != 0 ? 2 : 1; }
  Action action() const {
    std::map<std::string, double> p = {{"mass", -0.3}};
    if (csw != 0) p["csw_r"] = p["csw_t"] = csw;
    if (mu != 0) p["mu"] = mu;
    if (epsilon != 0) p["epsilon"] = epsilon;
    if (mu == 0) return {csw != 0 ? "clover" : "wilson", p};
    const std::string name = csw != 0 ? "twisted_clover" : epsilon != 0 ? "twisted" : "twisted_mass";
    return {name + (epsilon != 0 ? "_doublet" : ""), p};
  }
};

struct SolverOutcome {
  std::vector<int> iterations;
  bool converged;
  double residual;             ///< the largest
  std::vector<HostSite> site;  ///< of all solutions in turn, flavours fastest
  std::string links;           ///< what the solver tells of them
};

SolverOutcome solve(const Case& c, const HostGauge& gauge, const DomainPointer& domain) {
  SolveSettings s;
  s.method = c.method;
  s.precision = c.precision;
  s.links = c.links;
  s.parameters.preconditioner = preconditioner_of(c.preconditioner);
  const Solver solver(c.action(), gauge, domain, s);
  SpinorField b = solver.field(c.rhs), x = solver.field(c.rhs), sources = b.by_slice(), solutions = x.by_slice();
  for (int r = 0; r < sources.rhs(); ++r)
    upload(make_source(source_of(fmt::format("noise:{}", 3 + r), domain->lattice()), domain->lattice(), r % 4, r % 3),
           sources, solver.basis(), r);
  SolverOutcome outcome{{}, true, 0, {}, {}};
  for (const SolveReport& report : solver.solve_all(x, b)) {
    outcome.iterations.push_back(report.iterations);
    outcome.converged = outcome.converged && report.converged;
    outcome.residual = std::max(outcome.residual, report.residual);
    outcome.links = report.links;
  }
  HostSpinor solution(domain->lattice());
  for (int r = 0; r < sources.rhs(); ++r) {
    download(solutions, solution, solver.basis(), r);
    outcome.site.insert(outcome.site.end(), solution.site.begin(), solution.site.end());
  }
  return outcome;
}

/// What M makes of a field, alone on a domain.
HostSpinor applied(const LinearOperator& m, const HostSpinor& psi) {
  HostSpinor here(m.domain()->lattice());
  here.site = psi.site;
  return dense::apply(m, {here})[0];
}

TEST(Schwarz, HopsThatLeaveThePartFindZero) {
  const HostGauge gauge = hot_gauge(Lattice(solver_extent), 21);
  const auto device = ranks::device();
  for (const Coordinates& grid : ranks::grids()) {
    const Lattice here = ranks::local_lattice(solver_extent, grid);
    // The same on the whole lattice by links that are zero between parts.
    HostGauge severed = gauge;
    HostSpinor psi = make_source(source_of("noise:8", severed.lattice), severed.lattice, 1, 2);
    for (long long i = 0; i < severed.lattice.sites(); ++i)
      for (int mu = 0; mu < directions; ++mu)
        if (here.split(mu) && (severed.lattice.coordinates(i)[mu] + 1) % here.extent(mu) == 0)
          severed.site[i][mu] = Matrix3{};
    const auto whole = std::make_shared<Domain>(severed.lattice, device);
    const auto part = std::make_shared<Domain>(here, device, Communicator::world());
    const HostGauge mine_alone = ranks::cut(gauge, here);
    const auto expected = dense::dirac(dense::wilson(-0.2), severed, whole),
               mine_of = dense::dirac(dense::wilson(-0.2), mine_alone, part)->dirichlet();
    const HostSpinor all = applied(expected->matrix(), psi), mine = applied(mine_of->matrix(), ranks::cut(psi, here));
    for (long long i = 0; i < here.sites(); ++i)
      for (int k = 0; k < 12; ++k)
        ASSERT_LE(std::abs(mine.site[i][k] - all.site[here.global_index(i)][k]), 1e-14) << "grid " << grid[3];
  }
}

class Solvers : public testing::Test {
 protected:
  /// Every case by every policy, on one grid after the other. `links`: what a solve tells of them, `r12` if no others.
  void compare(std::span<const Case> cases, std::span<const Policy> policies,
               const HostGauge& gauge = weak_gauge(Lattice(solver_extent), 0.25, 11), std::string_view links = "r12") {
    const auto device = ranks::device();
    const auto solved = ranks::shared(
        cases.size(),
        [&](std::size_t n) { return solve(cases[n], gauge, std::make_shared<Domain>(Lattice(solver_extent), device)); },
        [&](std::size_t n) { return blank(cases[n]); });
    const auto grids = ranks::grids();
    const DomainPointer any = ranks::domain_of(ranks::local_lattice(solver_extent, grids[0]));
    std::size_t turn = 0;
    for (std::size_t n = 0; n < cases.size(); ++n) {
      SolverOutcome whole = solved[n];
      ranks::world().broadcast(whole.iterations.data(), whole.iterations.size() * sizeof(int),
                               static_cast<int>(n) % ranks::world().size());
      for (const Policy policy : policies)
        if (any->halos().refusal(policy).empty())  // those of one host, or of several
          compare(cases[n], gauge, whole, policy, grids[turn++ % grids.size()], links);
    }
  }

 private:
  static SolverOutcome blank(const Case& c) {
    const auto solutions = static_cast<std::size_t>(c.rhs * c.flavours());
    return {std::vector<int>(static_cast<std::size_t>(c.rhs)),
            true,
            0,
            std::vector<HostSite>(solutions * static_cast<std::size_t>(Lattice(solver_extent).sites())),
            {}};
  }

  void compare(const Case& c, const HostGauge& gauge, const SolverOutcome& whole, Policy policy,
               const Coordinates& grid, std::string_view links) {
    const Lattice here = ranks::local_lattice(solver_extent, grid);
    const auto domain = std::make_shared<Domain>(here, ranks::device(), Communicator::world());
    domain->halos().use(policy);
    const SolverOutcome part = solve(c, ranks::cut(gauge, here), domain);
    const std::string name =
        fmt::format("{} {} {} policy {}", name_of(c.method), c.precision, c.links, name_of(policy));
    EXPECT_TRUE(part.converged) << name;
    EXPECT_LE(part.residual, 1e-10) << name;
    EXPECT_EQ(part.links, links) << name;
    // Schwarz depends on the parts: its iterations do, too. BiCGstab in half goes other ways with other roundings.
    const bool schwarz = std::string_view(c.preconditioner).starts_with("schwarz");
    const bool rough = c.method == Method::bicgstab && std::string_view(c.precision) == "double-half";
    for (std::size_t r = 0; r < whole.iterations.size(); ++r) {
      const int iterations = whole.iterations[r];
      EXPECT_NEAR(part.iterations.at(r), iterations, schwarz ? iterations : 1 + (rough ? 0.15 : 0.05) * iterations)
          << name;
    }
    const std::size_t all = static_cast<std::size_t>(Lattice(solver_extent).sites());
    const auto sites = static_cast<std::size_t>(here.sites());
    ASSERT_EQ(whole.site.size() / all, part.site.size() / sites);
    for (std::size_t r = 0; r < whole.site.size() / all; ++r) {
      double difference = 0, size = 0;
      for (std::size_t i = 0; i < sites; ++i)
        for (int k = 0; k < 12; ++k) {
          const Complex64 expected = whole.site[r * all + static_cast<std::size_t>(here.global_index(i))][k];
          difference += std::norm(part.site[r * sites + i][k] - expected);
          size += std::norm(expected);
        }
      EXPECT_LE(std::sqrt(ranks::world().sum(difference) / ranks::world().sum(size)), 1e-8) << name;
    }
  }
};

TEST_F(Solvers, ReachTheSameSolutionWithATwistedMass) {
  if (ranks::world().size() == 1) return;
  std::vector<Case> cases = {{Method::cg, "double-half", "r12", 0, 2, "none", 0.3},
                             {Method::cg, "double-half", "r12", 1.2, 1, "none", 0.3}};
  const bool gpu = ranks::device()->asynchronous();
  if (!gpu)  // for GPUs a row of the profile would need `ranks = [true]`
    for (const double csw : {0.0, 1.2}) cases.push_back({Method::cg, "double", "r12", csw, 2, "none", 0.3, 0.1});
  const Policy policies[] = {Policy::first, gpu ? Policy::fused : Policy::overlap};
  compare(cases, policies);
}

TEST_F(Solvers, ReachTheSameSolutionOnAnyGrid) {
  if (ranks::world().size() == 1) return;
  const Case cases[] = {{Method::cg, "double"},
                        {Method::bicgstab, "double", "r12", 1.2},
                        {Method::bicgstab, "double-half", "r12", 1.2, 2},
                        {Method::cg, "double-single"},
                        {Method::cg, "double-half"},
                        {Method::block_cg, "double-half", "r12", 0, 2},
                        {Method::automatic, "auto", "r12", 1.2},
                        {Method::gcr, "double", "r12", 0, 1, "mr:4"},
                        {Method::gcr, "double-single-half", "r12", 1.2, 2, "schwarz-mr:4"}};
  compare(cases, std::array{Policy::first, Policy::overlap, Policy::peer, Policy::fused, Policy::mixed});
}

TEST_F(Solvers, HaveTheResidualOfTheLinksAsTheyWereGiven) {
  if (ranks::world().size() == 1) return;
  const Case cases[] = {{Method::cg, "double"},
                        {Method::bicgstab, "double-half", "r12", 1.2, 2},
                        {Method::cg, "double", "r12", 0, 1, "none", 0.3}};
  const Policy policies[] = {Policy::first, ranks::device()->asynchronous() ? Policy::fused : Policy::overlap};
  compare(cases, policies, support::rounded(weak_gauge(Lattice(solver_extent), 0.25, 11)), "r18-r12");
}

}  // namespace
