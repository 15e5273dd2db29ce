// Groups of ranks that work on right-hand sides of their own: the bits of all ranks together.
#ifdef QUARKSMITH_MPI
#include "runtime/ranks/rank_groups.hpp"
#include "tests/ranks/c_interface.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace c_on_ranks {
namespace {

/// All ways to form groups of a grid.
std::vector<Coordinates> groups_of(const Coordinates& grid) {
  std::vector<Coordinates> all;
  for (int x = 1; x <= grid[0]; ++x)
    for (int y = 1; y <= grid[1]; ++y)
      for (int z = 1; z <= grid[2]; ++z)
        for (int t = 1; t <= grid[3]; ++t)
          if (grid[0] % x + grid[1] % y + grid[2] % z + grid[3] % t == 0) all.push_back({x, y, z, t});
  return all;
}

TEST(RankGroups, TakeAndReturnFields) {
  for (const Coordinates& grid : ranks::grids(whole))
    for (const Coordinates& counts : groups_of(grid)) {
      SCOPED_TRACE(fmt::format("{} of {}", fmt::join(counts, "x"), fmt::join(grid, "x")));
      const Lattice here = ranks::local_lattice(whole, grid);
      const RankGroups groups(here, Communicator::world(), counts);
      // Group g takes the numbers of sites plus g million; the last one nothing, if there are several.
      const auto numbers = [](const Lattice& lattice, int g) {
        Numbers all;
        for (long long i = 0; i < lattice.sites(); ++i)
          for (int n = 0; n < 2; ++n) all.emplace_back(double(lattice.global_index(i)), 1e6 * g + n);
        return all;
      };
      std::vector<Numbers> mine;
      std::vector<const Complex64*> to;
      for (int g = 0; g < groups.count(); ++g) mine.push_back(numbers(here, g));
      for (const Numbers& m : mine) to.push_back(m.data());
      if (groups.count() > 1) to.back() = nullptr;
      Numbers whole_one(2 * std::size_t(groups.lattice().sites()));
      groups.hand_out(2, to, whole_one.data());
      const bool takes = to[std::size_t(groups.own())] != nullptr;
      EXPECT_TRUE(!takes || whole_one == numbers(groups.lattice(), groups.own()));
      std::vector<Numbers> returned(mine.size(), Numbers(mine[0].size()));
      std::vector<Complex64*> back;
      for (Numbers& r : returned) back.push_back(r.data());
      if (groups.count() > 1) back.back() = nullptr;
      groups.bring_back(2, whole_one.data(), back);
      for (std::size_t g = 0; g < mine.size(); ++g)
        EXPECT_TRUE(back[g] == nullptr || returned[g] == mine[g]) << "group " << g;
    }
}

TEST(COnRanks, SolvesAreSplitAmongGroups) {
  const Copy comm;
  Coordinates grid = a_grid();
  const Here here(comm, grid, Order::t_fastest);
  const Gauge gauge = load_numbers(here.context, cut(numbers_of(weak_gauge(Lattice(whole), 0.3, 5)), here.lattice, 36));
  std::vector<Numbers> b;
  for (unsigned n = 0; n < 3; ++n)
    b.push_back(cut(random_numbers(12 * std::size_t(Lattice(whole).sites()), 7 + n), here.lattice, 12));
  const auto sites = std::size_t(here.lattice.sites());
  std::vector<double> term(72 * sites);
  for (std::size_t n = 0; n < 12 * sites; ++n)
    term[72 * (n / 12) + n % 12] = 0.01 * double(here.lattice.global_index(int(n / 12)) % 7);
  const quarksmith_term_format f = initial(quarksmith_term_format_init);
  EXPECT_DONE(quarksmith_gauge_term(gauge, "A", term.data(), nullptr, &f));
  const std::string how = "action=clover mass=0.2 csw=1.1 tol=1e-9 field=term=A";
  const Solved together = solve(make_solver(gauge, how), b);
  for (const Coordinates& counts : groups_of(grid)) {
    const std::string split = fmt::format("{} split={}", how, fmt::join(counts, ","));
    SCOPED_TRACE(split);
    const Solved apart = solve(make_solver(gauge, split), b);
    EXPECT_EQ(apart.status, QUARKSMITH_OK);
    for (int n = 0; n < 3; ++n) {
      EXPECT_EQ(apart.x[n], together.x[n]) << n;
      EXPECT_EQ(apart.reports[n].iterations, together.reports[n].iterations) << n;
      EXPECT_EQ(apart.reports[n].residual, together.reports[n].residual) << n;
    }
    const Solved again = solve(make_solver(gauge, split + " guess"), b, together.x);
    for (int n = 0; n < 3; ++n) EXPECT_LE(again.reports[n].iterations, 1) << "it began with the solution";
    refused(solve(make_solver(gauge, split + " max-iterations=1"), b).status, QUARKSMITH_NOT_CONVERGED,
            "right-hand side 0");
    std::vector<Numbers> empty = b;
    std::ranges::fill(empty[2], 0.0);
    refused(solve(make_solver(gauge, split), empty).status, QUARKSMITH_BAD_DATA, "right-hand side 2 of 3");
  }
  Solver none;
  refused(quarksmith_solver_create(gauge, (how + " split=3,1,1,1").c_str(), none.out()), QUARKSMITH_BAD_ARGUMENT,
          "divisors");
}

TEST(COnRanks, ContextsOfGroupsHaveTheWholeLattice) {
  const Copy comm;
  Coordinates grid = a_grid();
  const Here here(comm, grid, Order::x_fastest);
  const Gauge gauge = load_numbers(here.context, cut(numbers_of(hot_gauge(Lattice(whole), 9)), here.lattice, 36));
  double expected[3], found[3];
  EXPECT_DONE(quarksmith_gauge_plaquette(gauge, expected));
  for (const Coordinates& counts : groups_of(grid)) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(counts, "x")));
    Context part;
    EXPECT_DONE(quarksmith_split(here.context, counts.data(), part.out()));
    Gauge split;
    EXPECT_DONE(quarksmith_gauge_split(gauge, part, split.out()));
    EXPECT_DONE(quarksmith_gauge_plaquette(split, found));
    for (int n = 0; n < 3; ++n) EXPECT_NEAR(found[n], expected[n], 1e-15);
    int size = 0;
    MPI_Comm_size(comm, &size);
    const std::size_t sites =
        std::size_t(Lattice(whole).sites()) * counts[0] * counts[1] * counts[2] * counts[3] / std::size_t(size);
    const Field one = make_field(part);
    set(one, 0, Numbers(12 * sites, 1));
    double norm2 = 0;
    EXPECT_DONE(quarksmith_norm2(one, &norm2));
    EXPECT_NEAR(norm2, 12.0 * double(Lattice(whole).sites()), 1e-9);
    Gauge none;
    refused(quarksmith_gauge_split(split, here.context, none.out()), QUARKSMITH_BAD_ARGUMENT, "quarksmith_split");
  }
  const int wrong[4] = {1, 1, 1, 3};
  Context none;
  refused(quarksmith_split(here.context, wrong, none.out()), QUARKSMITH_BAD_ARGUMENT, "divisors");
}

}  // namespace
}  // namespace c_on_ranks
#endif
