// Multigrid on parts of a lattice: identities of levels that stay on the ranks and of such that each rank has whole,
// and solves that take as many iterations as on the whole lattice.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/ranks/halo.hpp"
#include "solvers/krylov/solve.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/multigrid_levels.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;
using namespace multigrid_levels;

const Coordinates extent = {8, 8, 8, 8};

DomainPointer part_of(const Coordinates& grid) { return ranks::domain_of(ranks::part(extent, grid)); }

/// Wilson's M on this rank's part.
struct Fine {
  HostGauge gauge;
  LinkStore links;
  std::unique_ptr<DiracOperator> dirac;

  Fine(const DomainPointer& domain, const char* precision)
      : gauge(ranks::cut(weak_gauge(Lattice(extent), 0.3, 5), domain->lattice())),
        links(gauge, domain, "r12", "non_relativistic"),
        dirac(dense::wilson(-0.2).make(links, find_precision(precision))) {}
};

/// Such a level and the coarse operator; checks both.
struct Level {
  Transfer transfer;
  SpinorField vectors;
  CoarseOperator coarse;

  Level(const LinearOperator& fine, const char* basis, const Coordinates& block, int count, bool packed,
        double rounding, double product)
      : transfer(fine, find_basis(basis), block, count, packed, Parts::gathered),
        vectors(keep_noise(transfer, 1)),
        coarse(transfer, fine, 12, packed) {
    expect_projector(transfer, vectors, find_basis(basis), rounding);
    expect_product(transfer, fine, coarse, product);
  }
  int parts() const { return coarse.domain()->lattice().parts(); }
};

TEST(MultigridOnRanks, LevelsAreProjectionsOfTheFiner) {
  if (ranks::world().size() == 1) return;
  int turn = 0;
  for (const Coordinates& grid : ranks::grids(extent)) {
    const bool packed = turn++ % 2 == 1;
    SCOPED_TRACE(fmt::format("grid {} packed {}", ranks::text(grid), packed));
    const double rounding = packed ? 2e-4 : 1e-12, product = packed ? 2e-3 : 1e-12;
    const auto domain = part_of(grid);
    const Policy policies[] = {Policy::first, Policy::peer};
    const Policy policy = policies[turn / 2 % 2];
    if (domain->halos().refusal(policy).empty()) domain->halos().use(policy);
    const Fine fine(domain, packed ? "single" : "double");
    const Level kept(fine.dirac->matrix(), "non_relativistic", {2, 2, 2, 2}, 12, packed, rounding, product);
    EXPECT_EQ(kept.parts(), std::ranges::max(grid) == 2 ? ranks::world().size() : 1);  // or parts of one block
    const Level few(kept.coarse, "degrand_rossi", {2, 2, 2, 2}, 18, packed, rounding, product);
    EXPECT_EQ(few.parts(), 1);
    // So is a lattice of parts of one block in a direction, however large.
    Coordinates block = {2, 2, 2, 2};
    for (int mu = 0; mu < directions; ++mu)
      if (grid[mu] > 1) block[mu] = domain->lattice().extent(mu);
    const Transfer odd(fine.dirac->matrix(), find_basis("non_relativistic"), block, 48, false, Parts::gathered);
    EXPECT_EQ(odd.coarse_domain()->lattice().parts(), 1);
    EXPECT_THROW(Transfer(fine.dirac->matrix(), find_basis("non_relativistic"), block, 48), UsageError);
  }
}

struct Outcome {
  std::vector<int> iterations;
  SpinorField x;
  std::string told;
};

Outcome solve(const HostGauge& gauge, const DomainPointer& domain, const SolveSettings& given, const Action& action) {
  SolveSettings settings = given;
  Outcome outcome{{}, SpinorField(domain, find_precision("double"), Subset::full, 3), {}};
  settings.tell = [&](const std::string& line) { outcome.told += line + "\n"; };
  const Solver solver(action, gauge, domain, settings);
  SpinorField b = solver.field(3);
  fill(b, 1);
  for (const SolveReport& r : solver.solve_all(outcome.x, b)) {
    EXPECT_TRUE(r.converged) << outcome.told;
    EXPECT_LE(r.residual, 1e-10);
    outcome.iterations.push_back(r.iterations);
  }
  return outcome;
}

/// On all ranks alike and on two grids; `takes`: what is told.
void compare(const SolveSettings& settings, const Action& action, const Coordinates& global, std::string_view takes) {
  const HostGauge gauge = weak_gauge(Lattice(global), 0.3, 5);
  const Outcome whole = solve(gauge, std::make_shared<Domain>(gauge.lattice, ranks::device()), settings, action);
  EXPECT_NE(whole.told.find(takes), std::string::npos) << whole.told;
  const std::vector<HostSite> expected = [&] {
    std::vector<HostSite> all;
    for (int n = 0; n < 3; ++n)
      for (const HostSite& site : dense::get_one(whole.x, find_basis("non_relativistic"), n).site) all.push_back(site);
    return all;
  }();
  const std::vector<Coordinates> grids = ranks::grids(global);
  for (const Coordinates& grid : {grids.front(), grids.back()}) {
    SCOPED_TRACE(fmt::format("grid {}", ranks::text(grid)));
    const Lattice here = ranks::part(global, grid);
    const DomainPointer domain = ranks::domain_of(here);
    const Outcome part = solve(ranks::cut(gauge, here), domain, settings, action);
    EXPECT_NE(part.told.find(takes), std::string::npos) << part.told;
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_NEAR(part.iterations[n], whole.iterations[n], 1);
      const HostSpinor mine = dense::get_one(part.x, find_basis("non_relativistic"), int(n));
      double miss = 0, size = 0;
      for (long long i = 0; i < here.sites(); ++i)
        for (int k = 0; k < 12; ++k) {
          const Complex64 there = expected[n * std::size_t(gauge.lattice.sites()) + here.global_index(i)][k];
          miss += std::norm(mine.site[i][k] - there);
          size += std::norm(there);
        }
      EXPECT_LE(std::sqrt(ranks::world().sum(miss) / ranks::world().sum(size)), 1e-8);
    }
  }
}

/// Few vectors and steps, that the tests are short.
SolveSettings quick(std::vector<Coordinates> blocks) {
  SolveSettings settings;
  settings.precision = "double-single";
  settings.multigrid = MultigridParameters{};
  for (const Coordinates& block : blocks) {
    settings.multigrid->levels.emplace_back();
    settings.multigrid->levels.back().block = block;
    settings.multigrid->levels.back().vectors = 12;
    settings.multigrid->levels.back().smoother_steps = 4;
  }
  settings.multigrid->relaxations = 10;
  settings.multigrid->most_rounds = 1;
  return settings;
}

TEST(MultigridOnRanks, TakesTheIterationsOfOneRank) {
  if (ranks::world().size() == 1) return;
  SolveSettings settings = quick({{2, 2, 2, 2}, {2, 2, 2, 2}});
  settings.method = Method::multigrid;
  compare(settings, dense::wilson(-0.4, 1), extent, "set up in");
}

TEST(MultigridOnRanks, IsTakenByAutoAsOnOneRank) {
  if (ranks::world().size() == 1) return;
  SolveSettings settings = quick({{2, 2, 2, 2}});
  settings.sources = 100000;
  compare(settings, dense::wilson(-0.98), {4, 4, 4, 8}, "auto: takes multigrid for the 100000");
}

TEST(MultigridOnRanks, ChoosesTheBlocksOfOneRankWhereTheyFit) {
  const Lattice part({16, 16, 16, 32}, {1, 1, 2, 4}, {0, 0, 1, 3});
  const MultigridParameters whole = multigrid_for(Lattice({16, 16, 16, 32}), 1), here = multigrid_for(part, 1);
  ASSERT_EQ(whole.levels.size(), here.levels.size());
  for (std::size_t n = 0; n < whole.levels.size(); ++n) EXPECT_EQ(whole.levels[n].block, here.levels[n].block);
  // Six sites of a part have no blocks of four.
  EXPECT_EQ(multigrid_for(Lattice({16, 16, 16, 24}, {1, 1, 1, 4}, {0, 0, 0, 1}), 1).levels[0].block[3], 3);
  MultigridParameters wrong = whole;
  try {
    check(wrong, Lattice({16, 16, 16, 32}, {1, 1, 8, 1}, {0, 0, 1, 0}), 1);
    FAIL() << "four sites cut two";
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("do not fit into 16x16x2x32, which a rank has of 16x16x16x32"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
