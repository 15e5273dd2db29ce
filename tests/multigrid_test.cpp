// Multigrid: identities of each level, actions that its stencil serves and one that it does not, iterations of solves.
#include "runtime/error.hpp"
#include "solvers/multigrid/coarse_operator.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/solve/solve.hpp"
#include "tests/dense.hpp"
#include "tests/far_hops.hpp"
#include "tests/multigrid_levels.hpp"
#include "tests/quark.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

using namespace multigrid_levels;

struct Limits {
  const char* precision;
  bool packed;
  double rounding, product;  ///< of P^+ P = 1, and of the coarse operator
};

class Multigrid : public testing::TestWithParam<Limits> {};

TEST_P(Multigrid, CoarseLevelsAreProjectionsOfTheFiner) {
  const auto& [precision, packed, rounding, product] = GetParam();
  for (const auto& device : support::devices()) {
    const Lattice lattice({8, 4, 4, 8});
    const HostGauge gauge = weak_gauge(lattice, 0.3, 5);
    const auto domain = std::make_shared<Domain>(lattice, device);
    const LinkStore links(gauge, domain, "r12", "non_relativistic");
    const auto dirac = dense::wilson(-0.2).make(links, find_precision(precision));
    Transfer transfer(dirac->matrix(), find_basis("non_relativistic"), {2, 2, 2, 2}, 12, packed);
    const SpinorField v = keep_noise(transfer, 1);
    expect_projector(transfer, v, find_basis("non_relativistic"), rounding);
    const CoarseOperator coarse(transfer, dirac->matrix(), 12, packed);
    Transfer second(coarse, find_basis("degrand_rossi"), {2, 1, 1, 2}, 18, packed);
    const SpinorField w = keep_noise(second, 3);
    expect_projector(second, w, find_basis("degrand_rossi"), rounding);
    expect_product(transfer, dirac->matrix(), coarse, product);
    expect_product(second, coarse, CoarseOperator(second, coarse, 12, packed), product);
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, Multigrid,
                         testing::Values(Limits{"double", false, 1e-12, 1e-12}, Limits{"single", false, 2e-6, 1e-5},
                                         Limits{"single", true, 2e-4, 2e-3}),
                         [](const auto& info) {
                           return std::string(info.param.precision) + (info.param.packed ? "Packed" : "");
                         });

TEST(MultigridStencil, RefusesBlocksThatAreCoupledWithoutTouching) {
  const auto domain = std::make_shared<Domain>(Lattice({8, 4, 4, 8}), Device::cpu());
  const auto dirac = dense::dirac(dense::wilson(0), hot_gauge(domain->lattice(), 5), domain);
  const FarHops far(dirac->matrix());
  Transfer transfer(far, find_basis("non_relativistic"), {2, 2, 2, 2}, 6);
  keep_noise(transfer, 1);
  EXPECT_THROW(CoarseOperator(transfer, far, 1), UsageError);
  EXPECT_THROW(Transfer(far, find_basis("non_relativistic"), {2, 2, 2, 3}, 6), UsageError);
  EXPECT_THROW(Transfer(far, find_basis("non_relativistic"), {2, 2, 2, 2}, 8), UsageError);
}

/// The same blocks as in its log, 24 near-null vectors instead of 28.
TEST(MultigridSolve, NeedsNoMoreIterationsThanDdalphaamg) {
  if (data::folder().empty()) GTEST_SKIP() << "no reference data";
  const HostGauge gauge = data::load("ddalphaamg/8x8x8x8b6.0000id3n1", {8, 8, 8, 8});
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  SolveSettings settings;
  settings.method = Method::multigrid;
  MultigridLevel level;
  level.block = {2, 2, 2, 2};
  settings.multigrid = MultigridParameters{.levels = {level}, .coarsest_steps = 20, .most_rounds = 1};
  const Solver solver(dense::wilson(-0.5, 1), gauge, domain, settings);
  SpinorField b = solver.field(2), x = b.like();
  fill(b, 1);
  for (const SolveReport& r : solver.solve_all(x, b)) {
    EXPECT_TRUE(r.converged);
    EXPECT_LE(r.residual, 1e-10);
    EXPECT_LE(r.iterations, 13);  // 11 in ddalphaamg/reference_two_level.json
  }
}

/// Three levels, several right-hand sides, low precision outside; what was chosen is told.
TEST(MultigridSolve, ConvergesWithAnyLevelsAndPrecision) {
  for (const auto& device : support::devices()) {
    if (device->asynchronous()) continue;  // recorded programs wait for nothing
    const auto domain = std::make_shared<Domain>(Lattice({8, 4, 4, 8}), device);
    const HostGauge gauge = weak_gauge(domain->lattice(), 0.3, 5);
    for (const char* precision : {"double", "double-single", "double-half"}) {
      SolveSettings settings;
      settings.method = Method::multigrid;
      settings.precision = precision;
      std::string told;
      settings.tell = [&](const std::string& line) { told += line; };
      MultigridLevel level;
      level.vectors = 12;
      settings.multigrid = MultigridParameters{.levels = {level, level}, .relaxations = 10, .most_rounds = 1};
      settings.multigrid->levels[0].block = {2, 2, 2, 2};
      settings.multigrid->levels[1].block = {2, 1, 1, 2};
      const Solver solver(dense::wilson(-0.4), gauge, domain, settings);
      SpinorField b = solver.field(5), x = b.like();
      fill(b, 1);
      for (const SolveReport& r : solver.solve_all(x, b)) {
        EXPECT_LE(r.residual, 1e-10) << precision;
        EXPECT_LE(r.iterations, 25) << precision;
      }
      EXPECT_NE(told.find("2x2x2x2"), std::string::npos) << told;
      EXPECT_NE(told.find("set up in"), std::string::npos) << told;
    }
  }
}

}  // namespace
