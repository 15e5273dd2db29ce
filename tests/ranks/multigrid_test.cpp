// Multigrid on parts of a lattice: identities of levels that stay on the ranks and of such that each rank has whole,
// and solves that take as many iterations as on the whole lattice.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/hopping.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/far_hops.hpp"
#include "tests/multigrid_levels.hpp"
#include "tests/ranks/support.hpp"

namespace {

using namespace quarksmith;
using namespace multigrid_levels;

const Coordinates extent = {8, 8, 8, 8};

/// Two ways to cut a lattice.
std::vector<Coordinates> two_grids(const Coordinates& global) {
  const std::vector<Coordinates> all = ranks::grids(global);
  return {all.front(), all.back()};
}

/// Wilson's M on this rank's part.
struct Fine {
  HostGauge gauge;
  LinkStore links;
  std::unique_ptr<DiracOperator> dirac;

  Fine(const DomainPointer& domain, const char* precision)
      : gauge(ranks::cut(weak_gauge(Lattice(domain->lattice().global_extent()), 0.3, 5), domain->lattice())),
        links(gauge, domain, "r12", "non_relativistic"),
        dirac(dense::wilson(-0.2).make(links, find_precision(precision))) {}
};

/// Such a level and the coarse operator; checks both.
struct Level {
  Transfer transfer;
  SpinorField vectors;
  CoarseOperator coarse;

  Level(const LinearOperator& fine, const char* basis, const Coordinates& block, int count, bool packed,
        double rounding, double product, Parts where = Parts::gathered)
      : transfer(fine, find_basis(basis), block, count, packed, where),
        vectors(keep_noise(transfer, 1)),
        coarse(transfer, fine, 12, packed) {
    expect_projector(transfer, vectors, find_basis(basis), rounding);
    expect_product(transfer, fine, coarse, product);
  }
  int parts() const { return coarse.domain()->lattice().ranks(); }
};

TEST(MultigridOnRanks, LevelsAreProjectionsOfTheFiner) {
  if (ranks::world().size() == 1) return;
  int turn = 0;
  for (const Coordinates& grid : two_grids(extent)) {
    const bool packed = turn++ % 2 == 1;
    SCOPED_TRACE(fmt::format("grid {} packed {}", ranks::text(grid), packed));
    const double rounding = packed ? 2e-4 : 1e-12, product = packed ? 2e-3 : 1e-12;
    const DomainPointer domain = ranks::domain_of(ranks::local_lattice(extent, grid));
    const Policy policy = packed ? Policy::peer : Policy::first;
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
    EXPECT_EQ(odd.coarse_domain()->lattice().ranks(), 1);
    EXPECT_THROW(Transfer(fine.dirac->matrix(), find_basis("non_relativistic"), block, 48), UsageError);
  }
}

/// M M couples blocks of four sites across edges: those of parts that touch at an edge alone, too.
TEST(MultigridOnRanks, LevelsWithCornersAreProjectionsOfTheFiner) {
  const int size = ranks::world().size();
  if (size != 2 && size != 4) return;
  const bool packed = size == 4;
  const Coordinates kept_grid = {1, 1, size / 2, 2}, global = {8, 8, 4 * size, 16};
  for (const Coordinates& grid : {kept_grid, Coordinates{1, 2, size / 2, 1}}) {
    SCOPED_TRACE(fmt::format("grid {}", ranks::text(grid)));
    const DomainPointer domain = ranks::domain_of(ranks::local_lattice(global, grid));
    const Fine fine(domain, packed ? "single" : "double");
    const FarHops far(fine.dirac->matrix());
    const bool kept = grid == kept_grid;
    const Level level(far, "non_relativistic", {4, 4, 4, 4}, 6, packed, packed ? 2e-4 : 1e-12, packed ? 2e-3 : 1e-12,
                      kept ? Parts::kept : Parts::gathered);
    EXPECT_EQ(level.coarse.stencil().size(), 8u + 24u);
    EXPECT_EQ(level.parts(), kept ? size : 1);
  }
}

struct Outcome {
  std::vector<int> iterations;
  SpinorField x;
  std::string told;
};

Outcome solve(const HostGauge& gauge, const DomainPointer& domain, const SolveSettings& given, const Action& action) {
  SolveSettings settings = given;
  Outcome outcome{{}, SpinorField(domain, find_precision("double"), Subset::full, 2), {}};
  settings.tell = [&](const std::string& line) { outcome.told += line + "\n"; };
  const Solver solver(action, gauge, domain, settings);
  SpinorField b = solver.field(2);
  fill(b, 1);
  for (const SolveReport& r : solver.solve_all(outcome.x, b)) {
    EXPECT_TRUE(r.converged) << outcome.told;
    EXPECT_LE(r.residual, 1e-10);
    outcome.iterations.push_back(r.iterations);
  }
  return outcome;
}

/// What a solve on the whole lattice, by rank 0, finds as well on two grids; `takes`: what is told.
void compare(const SolveSettings& settings, const Action& action, const Coordinates& global, std::string_view takes) {
  constexpr int columns = 2;
  const HostGauge gauge = weak_gauge(Lattice(global), 0.3, 5);
  const BasisInfo& basis = find_basis("non_relativistic");
  std::vector<int> iterations(columns);
  std::vector<HostSpinor> expected(columns, HostSpinor(gauge.lattice));
  if (ranks::world().rank() == 0) {
    const Outcome whole = solve(gauge, std::make_shared<Domain>(gauge.lattice, ranks::device()), settings, action);
    iterations = whole.iterations;
    for (int n = 0; n < columns; ++n) download(whole.x, expected[n], basis, n);
  }
  ranks::world().broadcast(iterations.data(), iterations.size() * sizeof(int), 0);
  for (HostSpinor& x : expected) ranks::world().broadcast(x.site.data(), x.site.size() * sizeof(HostSite), 0);
  for (const Coordinates& grid : two_grids(global)) {
    SCOPED_TRACE(fmt::format("grid {}", ranks::text(grid)));
    const Lattice here = ranks::local_lattice(global, grid);
    const Outcome part = solve(ranks::cut(gauge, here), ranks::domain_of(here), settings, action);
    EXPECT_NE(part.told.find(takes), std::string::npos) << part.told;
    for (int n = 0; n < columns; ++n) {
      EXPECT_NEAR(part.iterations[n], iterations[n], 1);
      const dense::Vectors mine = {dense::get_one(part.x, basis, n)}, there = {ranks::cut(expected[n], here)};
      EXPECT_LE(deviation(mine, there, ranks::world()), 1e-8);
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
