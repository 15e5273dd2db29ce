// Where BiCGstab fails the default goes on with CG on the normal equations; a method that was named is kept to.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/solve/solve.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// Beyond the critical mass eigenvalues lie all around zero: BiCGstab takes thousands of iterations, CG a hundred.
class Fallback : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static constexpr int rhs = 4;
  static constexpr double tolerance = 1e-10;

  SolveSettings settings(Method method) const {
    SolveSettings s;
    s.method = method;
    s.precision = std::get<0>(GetParam());
    s.even_odd_form = even_odd_form_of(std::get<1>(GetParam()));
    s.options.tolerance = tolerance;
    return s;
  }
  std::unique_ptr<Solver> solver(const SolveSettings& s, const DomainPointer& domain, double mass) const {
    return std::make_unique<Solver>(dense::wilson(mass), gauge, domain, s);
  }
  SpinorField sources(const Solver& s) const {
    SpinorField b = s.field(rhs);
    for (int n = 0; n < rhs; ++n) upload(reference::random_spinor(gauge.lattice, 3 + unsigned(n)), b, s.basis(), n);
    return b;
  }
  double true_residual(const Solver& s, const SpinorField& x, int n, double mass) const {
    return reference::residual(reference::random_spinor(gauge.lattice, 3 + unsigned(n)),
                               reference::wilson(gauge, dense::get_one(x, s.basis(), n), mass));
  }

  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 8}), 0.25, 5);
};

bool said(const SolveReport& report, const std::string& text) {
  return std::any_of(report.events.begin(), report.events.end(),
                     [&](const SolverEvent& e) { return e.what.find(text) != std::string::npos; });
}

TEST_P(Fallback, GoesOnWithCgColumnByColumn) {
  constexpr double mass = -1;
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(gauge.lattice, device);
    SolveSettings s = settings(Method::automatic);
    EXPECT_EQ(SolveSettings{}.method, Method::automatic);
    std::vector<int> last(rhs);
    s.options.rhs_observer = [&](int n, int iteration, double) { last.at(n) = iteration; };
    const auto automatic = solver(s, domain, mass);
    const SpinorField b = sources(*automatic);
    SpinorField x = b.like(), y = b.like();
    const std::vector<SolveReport> reports = automatic->solve_all(x, b);
    for (int n = 0; n < rhs; ++n) {
      const SolveReport& r = reports[n];
      EXPECT_TRUE(r.converged) << n;
      EXPECT_LE(true_residual(*automatic, x, n, mass), tolerance) << n;
      EXPECT_EQ(last[n], r.iterations) << n;
      EXPECT_LT(r.iterations, 2000) << n;
      EXPECT_EQ(r.method == Method::cg, said(r, "goes on with cg on the normal equations")) << n;
      if (device->short_vectors()) continue;  // GPUs have kernels of their own for batches, which round otherwise
      SpinorField one = y.columns(n, 1);
      const SolveReport single = automatic->solve(one, b.columns(n, 1));
      EXPECT_EQ(single.method, r.method) << n;
      if (s.precision == "double") {
        EXPECT_EQ(single.iterations, r.iterations) << n;
      }
    }
    EXPECT_EQ(reports[0].method, Method::cg);
    const auto again = automatic->solve_all(y, b);
    EXPECT_EQ(dense::get(x)[0].site, dense::get(y)[0].site);  // the same bits after methods have changed places
  }
}

TEST_P(Fallback, NamedMethodIsKeptTo) {
  constexpr double mass = -1;
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(gauge.lattice, device);
    SolveSettings s = settings(Method::bicgstab);
    s.options.max_iterations = 800;  // the default gives up after 300 that do not halve the residual
    const auto named = solver(s, domain, mass);
    const SpinorField b = sources(*named);
    SpinorField x = b.like();
    for (const SolveReport& r : named->solve_all(x, b)) {
      EXPECT_EQ(r.method, Method::bicgstab);
      EXPECT_FALSE(said(r, "goes on with cg"));
    }
  }
}

TEST_P(Fallback, IsNotNeededWhereBicgstabConverges) {
  constexpr double mass = -0.3;
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(gauge.lattice, device);
    const auto automatic = solver(settings(Method::automatic), domain, mass),
               named = solver(settings(Method::bicgstab), domain, mass);
    const SpinorField b = sources(*named);
    SpinorField x = b.like(), y = b.like();
    const std::vector<SolveReport> ours = automatic->solve_all(x, b), theirs = named->solve_all(y, b);
    for (int n = 0; n < rhs; ++n) {
      EXPECT_TRUE(ours[n].converged);
      EXPECT_EQ(ours[n].method, Method::bicgstab);
      EXPECT_EQ(ours[n].iterations, theirs[n].iterations);
      EXPECT_EQ(ours[n].residual, theirs[n].residual);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Fallback,
                         testing::Combine(testing::Values("double", "double-single", "double-half"),
                                          testing::Values("symmetric", "asymmetric", "none")),
                         [](const auto& info) {
                           return support::test_name(
                               fmt::format("{}_{}", std::get<0>(info.param), std::get<1>(info.param)));
                         });

TEST(AutomaticPrecision, IsTheLowestThatIsBuiltAndRemembersWhereHalfWasLeft) {
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 8}), 0.25, 5);
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(gauge.lattice, device);
    const auto solve = [&](const Solver& solver) {
      SpinorField b = solver.field(), x = b.like();
      upload(reference::random_spinor(gauge.lattice, 3), b, solver.basis());
      return solver.solve(x, b);
    };
    SolveSettings s;
    s.precision = "auto";
    for (const Method method : {Method::automatic, Method::cg, Method::block_cg}) {
      s.method = method;
      const SolveReport r = solve(Solver(dense::wilson(-0.3), gauge, domain, s));
      EXPECT_TRUE(r.converged);
      EXPECT_EQ(r.precision, "double-half");
    }
    if (device->name() != "cpu") continue;  // whether half stagnates there is a matter of rounding
    s.method = Method::bicgstab;            // for a system that it does not solve
    s.options.max_iterations = 1200;
    const Solver solver(dense::wilson(-0.9), gauge, domain, s);
    SolveReport r = solve(solver);
    EXPECT_TRUE(said(r, "precision raised to single"));
    EXPECT_EQ(r.precision, "double-single");
    r = solve(solver);
    EXPECT_FALSE(said(r, "precision raised to single"));
    EXPECT_EQ(r.precision, "double-single");
  }
}

TEST(Remedy, IsNoneThatTheRunAlreadyHas) {
  SolveSettings s;
  SolveReport r;
  r.iterations = 700;
  r.method = Method::bicgstab;
  s.method = Method::bicgstab;
  EXPECT_EQ(remedy_of(s, r), "use method cg or a larger tolerance");
  s.precision = "single-half";
  EXPECT_EQ(remedy_of(s, r), "use method cg, precision double or a larger tolerance");
  r.iterations = s.options.max_iterations;
  r.method = s.method = Method::cg;
  s.precision = "double-half";
  EXPECT_EQ(remedy_of(s, r), "use a larger max_iterations or a larger tolerance");
  r.iterations = 3;
  EXPECT_EQ(remedy_of(s, r), "use a larger tolerance");
}

/// A norm that means nothing is an error before the first iteration.
TEST(RightHandSide, OfNoUsableNormIsRefused) {
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 4}), 0.2, 5);
  const auto domain = std::make_shared<Domain>(gauge.lattice, Device::cpu());
  SolveSettings s;
  int iterations = 0;
  s.options.observer = [&](int, double) { ++iterations; };
  const Solver solver(dense::wilson(0.2), gauge, domain, s);
  SpinorField b = solver.field(3), x = b.like();
  for (const auto& [number, text] : {std::pair{0.0, "is zero"},
                                     {1e-200, "too small"},
                                     {1e200, "too large"},
                                     {double(INFINITY), "not finite"},
                                     {std::nan(""), "not finite"}}) {
    HostSpinor source = reference::random_spinor(gauge.lattice, 3);
    for (int n = 0; n < 3; ++n) upload(source, b, solver.basis(), n);
    for (HostSite& site : source.site) site.fill(number);
    upload(source, b, solver.basis(), 1);
    const std::string message = support::message_of<BadData>([&] { solver.solve_all(x, b); });
    EXPECT_NE(message.find("right-hand side 1 of 3"), std::string::npos) << message;
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }
  EXPECT_EQ(iterations, 0);
}

}  // namespace
