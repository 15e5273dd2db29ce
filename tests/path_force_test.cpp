// Forces of long formulas, along their paths: those of D234, stated as paths here, are what its own kernel gives.
#include "solvers/hmc/path_force.hpp"

#include <gtest/gtest.h>

#include "runtime/fields/gauge.hpp"
#include "solvers/actions/hopping_term.hpp"
#include "solvers/hmc/links.hpp"
#include "solvers/hmc/noise.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

constexpr double b = 0.7, c = 0.4;

/// Hops of D234 over one site and over two, both ways: a field after each step.
struct PathsOfD234 {
  PathsOfD234() {
    ends.push_back({});
    for (int mu = 0; mu < directions; ++mu)
      for (const int sign : {1, -1}) {
        PathEnd one = {-4 * c}, two = {c};
        one[1 + mu] = sign * (0.5 + b);
        two[1 + mu] = sign * -b / 2;
        const int field = static_cast<int>(ends.size()), step = sign * (mu + 1);
        ends.insert(ends.end(), {one, two});
        first.push_back({0, field, step});
        second.push_back({field, field + 1, step});
      }
    first.insert(first.end(), second.begin(), second.end());
    info.path_ends = ends;
    info.path_steps = first;
  }
  std::vector<PathEnd> ends;
  std::vector<PathStep> first, second;
  ActionInfo info{};
};

TEST(PathForces, AreThoseOfTheKernelOfTheSameFormula) {
  for (const auto& device : support::devices())
    for (const BoundaryPhases& boundary :
         {BoundaryPhases{1, 1, 1, -1}, BoundaryPhases{1, Complex64(0.6, 0.8), 1, -1}}) {
      const auto domain = std::make_shared<Domain>(Lattice({4, 6, 4, 8}), device, Communicator::self(), 2);
      const EvolvingLinks links(weak_gauge(domain->lattice(), 0.4, 5), domain);
      const ExpressionSettings settings{boundary, "non_relativistic"};
      SpinorField psi(domain, find_precision("double"), Subset::full, 3), chi = psi.like();
      for (int k = 0; k < psi.rhs(); ++k) {
        SpinorField x = psi.columns(k, 1), y = chi.columns(k, 1);
        GaussianNoise(7, 1).pseudofermion("", k, x, find_basis("non_relativistic"));
        GaussianNoise(7, 2).pseudofermion("", k, y, find_basis("non_relativistic"));
      }
      LinkField p = links.cleared(), expected = links.cleared();
      GaussianNoise(3, 0).momenta(p);
      GaussianNoise(3, 0).momenta(expected);
      evaluate("force_d234", {links.field(), psi, chi, expected, 0.37, b, c}, {expected}, settings);
      add_path_force(PathsOfD234().info, links.field(), psi, chi, 0.37, p, settings);
      EXPECT_GT(support::largest_difference(download(expected), download(links.cleared())), 1);
      EXPECT_LT(support::largest_difference(download(p), download(expected)), 1e-12);
    }
}

}  // namespace
