// Multigrid along a trajectory: tolerances are met on links that move, for M and its conjugate; when it is refreshed.
#include "solvers/hmc/moving_multigrid.hpp"

#include <gtest/gtest.h>

#include "runtime/error.hpp"
#include "tests/dense.hpp"
#include "tests/moving_operator.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

constexpr double tolerance = 1e-11;

FermionSolver with_cycles(const char* precision) {
  FermionSolver solver{Method::multigrid, precision};
  MultigridLevel level;
  level.block = {2, 2, 2, 2};
  level.vectors = 12;
  solver.multigrid = MultigridParameters{.levels = {level}, .relaxations = 15, .most_rounds = 1};
  return solver;
}

TEST(MovingMultigrid, ReachesTheTrueResidualOnLinksThatMove) {
  for (const auto& device : support::devices()) {
    if (device->asynchronous()) continue;  // recorded programs wait for nothing
    for (const char* precision : {"double", "double-single"})
      for (const EvenOddForm form : {EvenOddForm::none, EvenOddForm::symmetric, EvenOddForm::asymmetric}) {
        if (form != EvenOddForm::symmetric && precision == std::string("double")) continue;
        MovingOperator run(device, dense::wilson(-0.3, 1.1), form, with_cycles(precision));
        const SpinorField b = run.source();
        SolveWork work;
        for (int step = 0; step < 2; ++step, run.move()) {
          SpinorField x = b.like(), y = b.like(), z = b.like();
          x.fill(0);
          SpinorField mx = x.like();
          run.a.solve_normal(x, mx, b, tolerance, work);
          EXPECT_LE(run.residual(x, b), 100 * tolerance) << precision << step;  // of two systems one after the other
          y.fill(0);
          run.a.solve_adjoint(y, b, tolerance, work);
          run.a.matrix().apply(z, y, Dagger::yes);
          EXPECT_LE(std::sqrt(Blas(b).residual(b, z) / Blas(b).norm2(b)), tolerance) << precision << step;
        }
        EXPECT_EQ(work.fallbacks, 0) << precision << int(form);
        EXPECT_EQ(work.refreshes, 1) << precision << int(form);
        EXPECT_LT(work.iterations, 6 * 40) << precision << int(form);
      }
  }
}

/// What the conjugate takes is what M takes: the same cycle between two gamma_5.
TEST(MovingMultigrid, TheConjugateConvergesAsMDoes) {
  MovingOperator run(Device::cpu(), dense::wilson(-0.3, 1.1), EvenOddForm::symmetric, with_cycles("double-single"));
  const SpinorField b = run.source();
  SpinorField x = b.like();
  SolveWork adjoint, both;
  x.fill(0);
  run.a.solve_adjoint(x, b, tolerance, adjoint);
  x.fill(0);
  SpinorField mx = x.like();
  run.a.solve_normal(x, mx, b, tolerance, both);
  EXPECT_NEAR(double(both.iterations - adjoint.iterations), double(adjoint.iterations), 3);
}

/// What being old costs is weighed against a refresh: coarse operators first, then near-null vectors.
TEST(MovingMultigrid, IsRefreshedWhereItHasGrownOld) {
  const auto domain = std::make_shared<Domain>(Lattice({4, 4, 4, 8}), Device::cpu());
  const HostGauge gauge = weak_gauge(domain->lattice(), 0.3, 5);
  const LinkStore links(gauge, domain, "r12", "non_relativistic");
  const auto dirac = dense::wilson(0, 1.1).make(links, find_precision("single"));
  const CycleOperators all{.plain = {dirac.get()},
                           .conjugate = {dirac.get()},
                           .smoothing = EvenOddForm::symmetric,
                           .iterated = &dirac->matrix(),
                           .basis = &links.basis()};
  MovingMultigrid moving(with_cycles("").multigrid, {});
  const auto moved = [&] {
    moving.follow(all);
    EXPECT_TRUE(moving.prepare());
    EXPECT_FALSE(moving.prepare());
    return moving.refreshes();
  };
  EXPECT_EQ(moved(), 1);  // the setup
  for (int n = 0; n < 5; ++n) {
    moving.solved(10, 10);
    EXPECT_EQ(moved(), 0);  // it converges as it did
  }
  moving.solved(500, 10);  // 490 iterations more than the first one took
  EXPECT_EQ(moved(), 0);   // coarse operators alone
  moving.solved(500, 10);  // they have not helped
  moving.solved(500, 10);
  EXPECT_EQ(moved(), 1);
  moving.solved(20, 10);
  EXPECT_EQ(moved(), 0);
  moving.failed();
  EXPECT_EQ(moved(), 1);
  moving.forget();
  EXPECT_EQ(moved(), 1);
}

/// M(mu)^+ = gamma_5 M(-mu) gamma_5.
TEST(MovingMultigrid, ServesTwistedMass) {
  for (const EvenOddForm form : {EvenOddForm::asymmetric, EvenOddForm::symmetric, EvenOddForm::none}) {
    MovingOperator run(Device::cpu(), Action("twisted_mass", {{"mass", -0.3}, {"mu", 0.05}}), form,
                       with_cycles("double-single"));
    const SpinorField b = run.source();
    SolveWork plain, adjoint;
    for (int step = 0; step < 2; ++step, run.move()) {
      SpinorField x = b.like(), y = b.like();
      x.fill(0);
      y.fill(0);
      run.a.solve_adjoint(y, b, tolerance, adjoint);
      SpinorField mx = x.like();
      run.a.solve_normal(x, mx, b, tolerance, plain);
      EXPECT_LE(run.residual(x, b), 100 * tolerance) << step;
    }
    EXPECT_EQ(plain.fallbacks + adjoint.fallbacks, 0);
    EXPECT_LT(plain.iterations, 3 * adjoint.iterations);
  }
}

TEST(MovingMultigrid, TellsWhichOperatorGamma5Conjugates) {
  const auto domain = std::make_shared<Domain>(Lattice({4, 4, 4, 8}), Device::cpu());
  const HostGauge gauge = weak_gauge(domain->lattice(), 0.3, 5);
  const LinkStore links(gauge, domain, "r18", "non_relativistic");
  const auto made = [&](const char* name, const std::map<std::string, double>& values) {
    return Action(name, values).make(links, find_precision("double"));
  };
  const auto wilson = made("wilson", {{"mass", 0.1}}), plus = made("twisted_mass", {{"mass", 0.1}, {"mu", 0.2}}),
             minus = made("twisted_mass", {{"mass", 0.1}, {"mu", -0.2}});
  const BasisInfo& basis = links.basis();
  EXPECT_LT(gamma5_deviation(wilson->matrix(), wilson->matrix(), basis), 1e-14);
  EXPECT_LT(gamma5_deviation(plus->matrix(), minus->matrix(), basis), 1e-14);
  EXPECT_GT(gamma5_deviation(plus->matrix(), plus->matrix(), basis), 1e-2);
}

}  // namespace
