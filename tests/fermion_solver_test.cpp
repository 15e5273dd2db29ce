// Solves of molecular dynamics: true residuals on links that move, in every precision, by solvers that stay; guesses.
#include "solvers/hmc/fermion_operator.hpp"

#include <gtest/gtest.h>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/hmc/chronological.hpp"
#include "solvers/hmc/noise.hpp"
#include "solvers/krylov/blas.hpp"
#include "tests/dense.hpp"
#include "tests/moving_operator.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

constexpr double tolerance = 1e-11;

Action clover() { return dense::wilson(0.05, 1.1); }
Action hisq() { return {"hisq", {{"mass", 0.1}, {"naik_epsilon", -0.05}}}; }

TEST(FermionSolvers, ReachTheTrueResidualOnLinksThatMove) {
  for (const auto& device : support::devices())
    for (const Method method : {Method::cg, Method::automatic})
      for (const char* precision : {"double", "double-single", "double-half"})
        for (const EvenOddForm form : {EvenOddForm::none, EvenOddForm::symmetric}) {
          MovingOperator run(device, clover(), form, {method, precision});
          const SpinorField b = run.source();
          for (int step = 0; step < 2; ++step, run.move()) {
            SpinorField x = b.like(), y = b.like(), z = b.like();
            SolveWork work;
            x.fill(0);
            SpinorField mx = x.like();
            run.a.solve_normal(x, mx, b, tolerance, work);
            // Of two systems one after the other, the residual of the first is multiplied by M^+ of the second's.
            EXPECT_LE(run.residual(x, b), (method == Method::cg ? 1 : 20) * tolerance) << precision << step;
            run.a.matrix().apply(z, x, Dagger::no);
            EXPECT_LE(std::sqrt(Blas(b).residual(mx, z) / Blas(b).norm2(mx)), tolerance) << precision << step;
            run.a.matrix().apply(z, mx, Dagger::yes);
            EXPECT_LE(std::sqrt(Blas(b).residual(b, z) / Blas(b).norm2(b)), tolerance) << precision << step;
            y.fill(0);
            run.a.solve_adjoint(y, b, tolerance, work);
            run.a.matrix().apply(z, y, Dagger::yes);
            EXPECT_LE(std::sqrt(Blas(b).residual(b, z) / Blas(b).norm2(b)), tolerance) << precision << step;
            EXPECT_GT(work.iterations, 4);
            EXPECT_EQ(work.fallbacks, 0);
          }
        }
}

/// (M + i c gamma_5)^+ (M + i c gamma_5) = M^+ M + c^2, and solves with it in every precision.
TEST(FermionSolvers, TwistsOnTheSitesOfTheReducedOperator) {
  constexpr double twist = 0.3;
  for (const auto& device : support::devices())
    for (const char* precision : {"double", "double-single", "double-half"})
      for (const EvenOddForm form : {EvenOddForm::none, EvenOddForm::asymmetric}) {
        MovingOperator run(device, clover(), form, {Method::automatic, precision});
        MovingOperator bare(device, clover(), form, {Method::cg, precision});
        run.parameters.twist = twist;
        run.a = FermionOperator(run.parameters, {Method::automatic, precision});
        run.a.follow(run.links);
        const SpinorField b = run.source();
        SpinorField x = b.like(), y = b.like(), z = b.like();
        const Blas blas(b);
        const auto normal = [&](const LinearOperator& m, SpinorField& out) {
          m.apply(y, b, Dagger::no);
          m.apply(out, y, Dagger::yes);
        };
        normal(run.a.matrix(), x);
        normal(bare.a.matrix(), z);
        blas.axpby(twist * twist, b, 1, z);
        const double size = blas.norm2(z);
        EXPECT_LT(std::sqrt(blas.residual(x, z) / size), support::rounding);
        SolveWork work;
        x.fill(0);
        SpinorField mx = x.like();
        run.a.solve_normal(x, mx, b, tolerance, work);
        EXPECT_LE(run.residual(x, b), 20 * tolerance) << precision;
        EXPECT_EQ(work.fallbacks, 0);
      }
}

TEST(FermionSolvers, ShiftsReachTheirTrueResiduals) {
  const std::vector<double> shifts = {0.003, 0.1, 0.02, 1, 5, 0.5};
  for (const auto& device : support::devices())
    for (const auto& action : {clover(), hisq()})
      for (const char* precision : {"double", "double-single", "double-half"}) {
        MovingOperator run(device, action, EvenOddForm::asymmetric, {Method::cg, precision}, true);
        const SpinorField b = run.source();
        for (const int count : {4, 6, 5}) {  // as heat bath, action and force have
          SpinorField x = run.a.field(count);
          SolveWork work;
          run.a.solve_shifted(x, b, {shifts.begin(), shifts.begin() + count}, std::vector(count, tolerance), work);
          for (int k = 0; k < count; ++k) EXPECT_LE(run.residual(x.columns(k, 1), b, shifts[k]), tolerance);
          run.move();
        }
      }
}

/// What BiCGstab does not solve, conjugate gradients do; by itself it says so.
TEST(FermionSolvers, FallBackWhereBiCGstabFails) {
  const Action light = dense::wilson(-1.2);
  const auto solve = [&](Method method) {
    MovingOperator run(Device::cpu(), light, EvenOddForm::none, {method, "double"});
    const SpinorField b = run.source();
    SpinorField y = b.like(), z = b.like();
    SolveWork work;
    y.fill(0);
    run.a.solve_adjoint(y, b, 1e-9, work);
    run.a.matrix().apply(z, y, Dagger::yes);
    EXPECT_LE(std::sqrt(Blas(b).residual(b, z) / Blas(b).norm2(b)), 1e-9);
    return work;
  };
  EXPECT_EQ(solve(Method::automatic).fallbacks, 1);
  EXPECT_EQ(solve(Method::cg).fallbacks, 0);
  EXPECT_THROW(solve(Method::bicgstab), Error);
}

TEST(FermionSolvers, ThePrecisionOfTheBuildIsTheDefault) {
  const Action naive("naive", {{"mass", 0.4}, {"mu", 0.1}});
  const auto solve = [&](const std::string& precision) {
    MovingOperator run(Device::cpu(), naive, EvenOddForm::none, {Method::cg, precision});
    const SpinorField b = run.source();
    SpinorField x = b.like();
    SolveWork work;
    x.fill(0);
    SpinorField mx = x.like();
    run.a.solve_normal(x, mx, b, tolerance, work);
    EXPECT_LE(run.residual(x, b), tolerance);
  };
  solve("");
  EXPECT_THROW(solve("double-half"), MissingKernel);
}

/// Fat and long links that never leave the device against those that hosts hold, in every precision.
TEST(FermionSolvers, LinksMadeOnTheDeviceAreThoseOfTheHost) {
  for (const auto& device : support::devices())
    for (const Action& action : {Action("asqtad", {{"mass", 0.1}, {"u0", 0.9}}), hisq()}) {
      const auto domain = std::make_shared<Domain>(Lattice({6, 6, 6, 6}), device, Communicator::self(), 3);
      const HostGauge gauge = weak_gauge(domain->lattice(), 0.3, 5);
      const auto field =
          std::make_shared<const LinkField>(upload(gauge, domain, find_precision("double"), find_storage("r18")));
      for (const auto& [precision, storage, least] : {std::tuple{"double", "r18", 1e-14},
                                                      {"double", "r13", 1e-13},
                                                      {"single", "r13", 1e-6},
                                                      {"half", "r13", 2e-4}}) {
        const auto made = action.make(LinkStore(field, storage, "non_relativistic"), find_precision(precision));
        const auto wanted =
            action.make(LinkStore(gauge, domain, storage, "non_relativistic"), find_precision("double"));
        SpinorField in = wanted->matrix().field(), out = in.like(), expected = in.like();
        GaussianNoise(7, 1).pseudofermion("", 0, in, find_basis("non_relativistic"));
        wanted->matrix().apply(expected, in, Dagger::no);
        SpinorField low_in = made->matrix().field(), low_out = low_in.like();
        const Converter convert(wanted->matrix(), in.precision(), low_in.precision(), 1);
        convert(in, low_in);
        made->matrix().apply(low_out, low_in, Dagger::no);
        convert(low_out, out);
        const Blas blas(out);
        EXPECT_LE(std::sqrt(blas.residual(expected, out) / blas.norm2(expected)), least) << precision << storage;
      }
    }
}

TEST(ChronologicalGuess, IsTheBestOfTheLastSolutions) {
  MovingOperator run(Device::cpu(), clover(), EvenOddForm::symmetric, {Method::cg, "double"});
  ChronologicalGuess earlier(2);
  SpinorField x = run.a.field(), sum = x.like();
  const Blas blas(x);
  SolveWork work;
  const auto residual_of_guess = [&](const SpinorField& b) {
    earlier.guess(x, b, run.a.matrix());
    return run.residual(x, b);
  };
  sum.fill(0);
  for (int n = 0; n < 3; ++n) {
    const SpinorField b = run.source(n);
    EXPECT_GT(residual_of_guess(b), 0.1);
    x.fill(0);
    SpinorField mx = x.like();
    run.a.solve_normal(x, mx, b, tolerance, work);
    earlier.keep(x);
    earlier.keep(x);  // one that says nothing new takes no place
    if (n > 0) blas.axpby(n, b, 1, sum);
  }
  EXPECT_LE(residual_of_guess(sum), 10 * tolerance);  // a sum of the last two
  EXPECT_GT(residual_of_guess(run.source(0)), 0.1);   // that before them is forgotten
  earlier.forget();
  residual_of_guess(sum);
  EXPECT_EQ(blas.norm2(x), 0);
}

}  // namespace
