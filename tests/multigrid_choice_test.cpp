// What is chosen of multigrid: the search for parameters, near-null vectors that are there, when auto takes it.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/error.hpp"
#include "solvers/solve/automatic.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/noise.hpp"
#include "solvers/multigrid/tune.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

const Lattice small({8, 8, 8, 16});

/// A cost with one minimum that moves reach one after the other.
double bowl(const MultigridParameters& p) {
  const MultigridLevel& l = p.levels[0];
  return std::abs(l.vectors - 12) + std::abs(l.smoother_steps - 4) + std::abs(p.relaxations - 25) / 10.0 +
         10 * std::abs(l.block[0] - 2);
}

TEST(MultigridTune, FindsTheLeastCostAndTriesNothingTwice) {
  std::vector<MultigridParameters> tried;
  const MultigridParameters best = tuned(
      multigrid_for(small, 1, 4), multigrid_moves(small, 1),
      [&](const MultigridParameters& p, const std::string& what) {
        EXPECT_FALSE(what.empty());
        EXPECT_NO_THROW(check(p, small, 1)) << what;
        for (const MultigridParameters& q : tried) EXPECT_FALSE(same(p, q)) << what;
        tried.push_back(p);
        return bowl(p);
      },
      [] { return false; });
  EXPECT_EQ(bowl(best), 0);
  EXPECT_LT(tried.size(), 80u);
}

TEST(MultigridTune, EndsWhenTheTimeIsUp) {
  int tried = 0;
  const auto cost = [&](const MultigridParameters& p, const std::string&) { return ++tried, bowl(p); };
  tuned(multigrid_for(small, 1, 4), multigrid_moves(small, 1), cost, [&] { return tried >= 5; });
  EXPECT_EQ(tried, 5);
}

TEST(MultigridParameters, SayWhichBlocksDoNotCutALattice) {
  MultigridParameters p = multigrid_for(small, 1, 4);
  p.levels[0].block = {4, 4, 4, 3};
  EXPECT_NE(support::message_of<UsageError>([&] { check(p, small, 1); }).find("level 1"), std::string::npos);
}

TEST(Weighing, TakesMultigridForManyIterationsAndManyColumnsAlone) {
  const Lattice lattice({16, 16, 16, 32});
  const MultigridCost cost = cost_of(multigrid_for(lattice, 1), lattice, 1320.0 * double(lattice.sites()), false);
  const MultigridCost on_few = cost_of(multigrid_for(small, 1), small, 1320.0 * double(small.sites()), false);
  EXPECT_GT(on_few.solve, 2 * cost.solve);  // dense coarse matrices of small blocks
  const MultigridCost corners =
      cost_of(multigrid_for(lattice, 1), lattice, 1320.0 * double(lattice.sites()), false, true);
  EXPECT_GT(corners.setup, cost.setup);
  EXPECT_GT(corners.solve, cost.solve);
  const auto pays = [&](double iterations, int columns, int at = Weighing::first_estimate) {
    const Weighing w{cost, columns, Method::bicgstab, true};
    return w.pays(at, std::pow(1e-10, at / iterations), 1e-10, 1);
  };
  EXPECT_TRUE(pays(1200, 12));
  EXPECT_FALSE(pays(200, 12));  // the setup costs more
  EXPECT_FALSE(pays(1200, 1));
  EXPECT_TRUE(pays(20000, 1, 800));                            // critical: even for one
  EXPECT_FALSE(pays(1200, 12, Weighing::first_estimate + 1));  // now and then
  EXPECT_EQ(Weighing::estimate(100, 1e-5, 1e-10), 200);
}

/// Near the critical mass, with few enough vectors and steps that the test is short.
SolveSettings light(int sources) {
  SolveSettings settings;
  settings.sources = sources;
  settings.precision = "double-single";
  MultigridLevel level;
  level.block = {2, 2, 2, 2};
  level.vectors = 12;
  level.smoother_steps = 4;
  settings.multigrid = MultigridParameters{.levels = {level}, .relaxations = 15, .most_rounds = 1};
  return settings;
}

TEST(Automatic, TakesMultigridWhereItPaysAndSaysSo) {
  const auto domain = std::make_shared<Domain>(Lattice({4, 4, 4, 8}), Device::cpu());
  const HostGauge gauge = weak_gauge(domain->lattice(), 0.3, 5);
  std::vector<std::string> told;
  for (const int sources : {0, 100000}) {
    SolveSettings settings = light(sources);
    told.clear();
    settings.tell = [&](const std::string& line) { told.push_back(line); };
    const Solver solver(dense::wilson(-0.98), gauge, domain, settings);
    SpinorField b = solver.field(2), x = b.like();
    draw(b, find_basis("degrand_rossi"), 1);
    for (const SolveReport& r : solver.solve_all(x, b)) {
      EXPECT_LE(r.residual, 1e-10);
      EXPECT_EQ(r.method == Method::multigrid, sources > 0) << name_of(r.method) << r.iterations;
    }
    const auto takes = [](const std::string& line) { return line.starts_with("auto: takes multigrid for the 100000"); };
    EXPECT_EQ(std::count_if(told.begin(), told.end(), takes), sources > 0);
  }
}

/// Vectors of one solver in another: of the same links they are taken as they are, of another mass adapted.
TEST(NearNullVectors, ServeAnotherSolver) {
  const auto domain = std::make_shared<Domain>(Lattice({4, 4, 4, 8}), Device::cpu());
  const HostGauge gauge = weak_gauge(domain->lattice(), 0.3, 5);
  const auto solve = [&](double mass, std::shared_ptr<const NearNullVectors> begin) {
    SolveSettings settings = light(0);
    settings.method = Method::multigrid;
    settings.near_null = std::move(begin);
    std::string told;
    settings.tell = [&](const std::string& line) { told += line + "\n"; };
    Solver solver(dense::wilson(mass), gauge, domain, settings);
    SpinorField b = solver.field(1), x = b.like();
    draw(b, find_basis("degrand_rossi"), 1);
    const SolveReport report = solver.solve_all(x, b)[0];
    EXPECT_LE(report.residual, 1e-10);
    const std::size_t rounds = told.find(" with ", told.find("set up in"));
    return std::tuple(report.iterations, solver.near_null_vectors(), std::stoi(told.substr(rounds + 6)));
  };
  auto [iterations, vectors, rounds] = solve(-0.45, nullptr);
  ASSERT_TRUE(vectors);
  EXPECT_EQ(vectors->rhs(), 12);
  const auto of = [&](bool other) {
    SpinorField copy = vectors->like();
    copy.copy_from(*vectors);
    return std::make_shared<NearNullVectors>(NearNullVectors{std::move(copy), other});
  };
  const auto [again, same_vectors, no_rounds] = solve(-0.45, of(false));
  EXPECT_LE(again, iterations + 1);
  EXPECT_EQ(no_rounds, 0);
  const auto [lighter, other_vectors, a_round] = solve(-0.5, of(true));
  EXPECT_EQ(a_round, 1);
  EXPECT_LE(lighter, iterations + 4);
}

}  // namespace
