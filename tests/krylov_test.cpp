// Methods against their papers: the residual of every iteration is that of a plain implementation on host vectors.
#include <fmt/format.h>

#include <functional>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/solve.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

constexpr double mass = -0.6;

HostGauge test_gauge(const Lattice& lattice) { return hot_gauge(lattice, 5); }

/// M x or M^+ x, dense.
struct Matrix {
  HostGauge gauge;
  HostSpinor operator()(const HostSpinor& x, bool dagger = false) const {
    reference::Coefficients c;
    c.phase = WilsonParameters().boundary;
    return reference::combine(mass + 4, x, -0.5, reference::hopping(gauge, x, reference::wilson_hops(dagger), c));
  }
};

HostSpinor add(const HostSpinor& y, Complex64 a, const HostSpinor& x) { return reference::combine(1, y, a, x); }
double norm(const HostSpinor& x) { return std::sqrt(reference::dot(x, x).real()); }

using History = std::vector<double>;
/// Residuals |b - A x| / |b| after each of `count` iterations from x = 0, as the recurrence has them.
using HistoryOf = std::function<History(const Matrix& a, const HostSpinor& b, int count)>;

/// Saad, algorithm 8.5.
History craig(const Matrix& a, const HostSpinor& b, int count) {
  HostSpinor r = b, p = a(r, true);
  History h;
  for (int k = 0; k < count; ++k) {
    const double rr = reference::dot(r, r).real(), alpha = rr / reference::dot(p, p).real();
    r = add(r, -alpha, a(p));
    p = add(a(r, true), reference::dot(r, r).real() / rr, p);
    h.push_back(norm(r) / norm(b));
  }
  return h;
}

/// One step of minimal residual along p.
void step(const Matrix& a, const HostSpinor& p, double omega, HostSpinor& x, HostSpinor& r) {
  const HostSpinor q = a(p);
  const Complex64 alpha = omega * reference::dot(q, r) / reference::dot(q, q);
  x = add(x, alpha, p);
  r = add(r, -alpha, q);
}

/// Saad, algorithm 5.3, over-relaxed.
History minimal_residual(const Matrix& a, const HostSpinor& b, int count, double omega) {
  HostSpinor x(b.lattice), r = b;
  History h;
  for (int k = 0; k < count; ++k) {
    step(a, HostSpinor(r), omega, x, r);
    h.push_back(norm(r) / norm(b));
  }
  return h;
}

/// Saad, algorithm 6.21 with restart and `smooth` steps of MR on r in place of r.
History conjugate_residuals(const Matrix& a, const HostSpinor& b, int count, int m, int smooth) {
  HostSpinor x(b.lattice), r = b;
  std::vector<HostSpinor> ps, qs;
  History h;
  for (int k = 0; k < count; ++k) {
    if (static_cast<int>(ps.size()) == m) ps.clear(), qs.clear();
    HostSpinor p(b.lattice), rest = r;
    for (int n = 0; n < smooth; ++n) step(a, HostSpinor(rest), 1, p, rest);
    if (smooth == 0) p = r;
    HostSpinor q = a(p);
    const HostSpinor image = q;
    for (std::size_t i = 0; i < ps.size(); ++i) {
      const Complex64 beta = -reference::dot(qs[i], image) / reference::dot(qs[i], qs[i]);
      p = add(p, beta, ps[i]);
      q = add(q, beta, qs[i]);
    }
    step(a, p, 1, x, r);
    ps.push_back(p);
    qs.push_back(q);
    h.push_back(norm(r) / norm(b));
  }
  return h;
}

/// Sleijpen and Fokkema, algorithm 3.1, in their names; (u, v) of theirs is dot(v, u). One iteration is all l steps.
History bicgstab_l(const Matrix& a, const HostSpinor& b, int count, int l) {
  const HostSpinor shadow = b;
  const auto inner = [](const HostSpinor& u, const HostSpinor& v) { return reference::dot(v, u); };
  HostSpinor x(b.lattice);
  std::vector<HostSpinor> r(l + 1, HostSpinor(b.lattice)), u = r;
  r[0] = b;
  Complex64 rho0 = 1, alpha = 0, omega = 1;
  History h;
  for (int k = 0; k < count; ++k) {
    rho0 = -omega * rho0;
    for (int j = 0; j < l; ++j) {
      const Complex64 rho1 = inner(r[j], shadow), beta = alpha * rho1 / rho0;
      rho0 = rho1;
      for (int i = 0; i <= j; ++i) u[i] = add(r[i], -beta, u[i]);
      u[j + 1] = a(u[j]);
      alpha = rho0 / inner(u[j + 1], shadow);
      for (int i = 0; i <= j; ++i) r[i] = add(r[i], -alpha, u[i + 1]);
      r[j + 1] = a(r[j]);
      x = add(x, alpha, u[0]);
    }
    std::vector<std::vector<Complex64>> tau(l + 1, std::vector<Complex64>(l + 1));
    std::vector<Complex64> first(l + 1), gamma(l + 1), second(l + 1);
    std::vector<double> sigma(l + 1);
    for (int j = 1; j <= l; ++j) {
      for (int i = 1; i < j; ++i) {
        tau[i][j] = inner(r[j], r[i]) / sigma[i];
        r[j] = add(r[j], -tau[i][j], r[i]);
      }
      sigma[j] = inner(r[j], r[j]).real();
      first[j] = inner(r[0], r[j]) / sigma[j];
    }
    omega = gamma[l] = first[l];
    for (int j = l - 1; j >= 1; --j) {
      gamma[j] = first[j];
      for (int i = j + 1; i <= l; ++i) gamma[j] -= tau[j][i] * gamma[i];
    }
    for (int j = 1; j < l; ++j) {
      second[j] = gamma[j + 1];
      for (int i = j + 1; i < l; ++i) second[j] += tau[j][i] * gamma[i + 1];
    }
    x = add(x, gamma[1], r[0]);
    r[0] = add(r[0], -first[l], r[l]);
    u[0] = add(u[0], -gamma[l], u[l]);
    for (int j = 1; j < l; ++j) {
      u[0] = add(u[0], -gamma[j], u[j]);
      x = add(x, second[j], r[j]);
      r[0] = add(r[0], -first[j], r[j]);
    }
    h.push_back(norm(r[0]) / norm(b));
  }
  return h;
}

struct Case {
  std::string name;
  Method method;
  MethodParameters parameters;
  HistoryOf paper;
  int count = 8;
};

std::vector<Case> cases() {
  std::vector<Case> all = {{"cgne", Method::cgne, {}, craig, 12}};
  for (const double omega : {0.8, 1.0, 1.2})
    all.push_back(
        {fmt::format("mr_{:.0f}", 10 * omega), Method::mr, {.omega = omega}, [omega](auto& a, auto& b, int n) {
           return minimal_residual(a, b, n, omega);
         }});
  for (const int m : {1, 3, 7, 10})
    for (const int steps : {0, 3}) {
      MethodParameters p = {.restart = m};
      if (steps > 0) p.preconditioner = InnerMethod{Method::mr, steps};
      all.push_back({fmt::format("gcr_{}_{}", m, steps), Method::gcr, p,
                     [m, steps](auto& a, auto& b, int n) { return conjugate_residuals(a, b, n, m, steps); },
                     steps > 0 ? 5 : 12});
    }
  for (const int l : {1, 2, 3, 4})
    all.push_back({fmt::format("bicgstab_l_{}", l),
                   Method::bicgstab_l,
                   {.l = l},
                   [l](auto& a, auto& b, int n) { return bicgstab_l(a, b, n, l); },
                   8 / l});
  return all;
}

class Paper : public testing::TestWithParam<Case> {};

TEST_P(Paper, GivesTheSameResiduals) {
  const Case& c = GetParam();
  const Lattice lattice({4, 4, 4, 4});
  const HostSpinor source = reference::random_spinor(lattice, 3);
  const History expected = c.paper(Matrix{test_gauge(lattice)}, source, c.count);
  ASSERT_GT(expected.back(), 1e-9);
  for (const auto& device : support::devices()) {
    SolveSettings settings;
    settings.method = c.method;
    settings.parameters = c.parameters;
    settings.reduction = Reduction::none;
    settings.options.tolerance = 1e-12;
    settings.options.max_iterations = c.count;
    History residuals;
    settings.options.rhs_observer = [&](int, int, double residual) { residuals.push_back(residual); };
    const auto domain = std::make_shared<Domain>(lattice, device);
    WilsonParameters parameters;
    parameters.mass = mass;
    const WilsonSolver solver(test_gauge(lattice), domain, parameters, settings);
    SpinorField b(domain, find_precision("double"), Subset::full), x = b.like();
    upload(source, b, solver.basis());
    const SolveReport report = solver.solve(x, b);
    ASSERT_EQ(residuals.size(), expected.size()) << device->name();
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_NEAR(residuals[k], expected[k], 1e-8 * expected[k]) << device->name() << " iteration " << k + 1;
    EXPECT_NEAR(report.residual, expected.back(), 1e-7 * expected.back());  // the true one
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Paper, testing::ValuesIn(cases()), [](const auto& info) { return info.param.name; });

/// Directions of any recurrence in any lower precision bring GCR to the residual of the higher, batched and alone.
TEST(Preconditioner, MayBeAnyMethodInAnyPrecision) {
  const Lattice lattice({4, 4, 4, 4});
  const HostGauge gauge = weak_gauge(lattice, 0.25, 5);
  for (const auto& device : support::devices())
    for (const char* inner : {"mr:4", "cg:3", "cgne:3", "bicgstab:3", "bicgstab-l:2", "gcr:5"})
      for (const char* precision :
           {"double", "double-double-half", "double-single-half", "single-half", "double-half"}) {
        SolveSettings settings;
        settings.method = Method::gcr;
        settings.precision = precision;
        settings.parameters.preconditioner = preconditioner_of(inner);
        settings.options.tolerance = std::string_view(precision) == "single-half" ? 2e-6 : 1e-11;
        settings.options.max_iterations = 200;
        const auto domain = std::make_shared<Domain>(lattice, device);
        WilsonParameters parameters;
        parameters.mass = -0.2;
        const WilsonSolver solver(gauge, domain, parameters, settings);
        SpinorField b(domain, find_precision("double"), Subset::full, 3), x = b.like(), again = b.like();
        for (int n = 0; n < 3; ++n) upload(reference::random_spinor(lattice, 3 + n), b, solver.basis(), n);
        const std::vector<SolveReport> reports = solver.solve_all(x, b);
        solver.solve_all(again, b);
        for (int n = 0; n < 3; ++n) {
          EXPECT_TRUE(reports[n].converged) << inner << " " << precision << " " << reports[n].residual;
          HostSpinor one(lattice), two(lattice);
          download(x, one, solver.basis(), n);
          download(again, two, solver.basis(), n);
          EXPECT_EQ(one.site, two.site) << inner << " " << precision;
        }
      }
}

/// Beyond the critical mass these methods stagnate: they say so, long before their iterations are used up.
TEST(Stagnation, IsReported) {
  const Lattice lattice({4, 4, 4, 4});
  for (const auto& device : support::devices())
    for (const Method method : {Method::mr, Method::bicgstab}) {
      SolveSettings settings;
      settings.method = method;
      settings.options.max_iterations = 100000;
      const auto domain = std::make_shared<Domain>(lattice, device);
      WilsonParameters parameters;
      parameters.mass = -2.1;
      const WilsonSolver solver(test_gauge(lattice), domain, parameters, settings);
      SpinorField b(domain, find_precision("double"), Subset::full), x = b.like();
      upload(reference::random_spinor(lattice, 3), b, solver.basis());
      const SolveReport report = solver.solve(x, b);
      EXPECT_FALSE(report.converged);
      EXPECT_FALSE(report.events.empty());
      EXPECT_LT(report.iterations, 5000);
      EXPECT_LE(report.residual, 1.5);  // x = 0 has 1 on the reduced system
    }
}

TEST(MethodChoices, BadOnesAreRefused) {
  EXPECT_THROW(method_of("gmres"), UsageError);
  for (const char* text : {"mr", "mr:", "mr:4x", "gmres:4", ""})
    EXPECT_THROW(preconditioner_of(text), UsageError) << text;
  EXPECT_THROW(check(Method::gcr, {.restart = 0}), UsageError);
  EXPECT_THROW(check(Method::gcr, {.restart = MethodParameters::most_directions + 1}), UsageError);
  EXPECT_THROW(check(Method::bicgstab_l, {.l = 5}), UsageError);
  EXPECT_THROW(check(Method::mr, {.omega = 2}), UsageError);
  EXPECT_THROW(check(Method::cg, {.preconditioner = InnerMethod{Method::mr, 4}}), UsageError);
  EXPECT_THROW(check(Method::gcr, {.preconditioner = InnerMethod{Method::mr, 0}}), UsageError);
  EXPECT_NO_THROW(check(Method::gcr, {.restart = 32, .preconditioner = InnerMethod{Method::mr, 4}}));
}

}  // namespace
