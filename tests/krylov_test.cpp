// Methods against their papers: the residual of every iteration is that of a plain implementation on host vectors.
#include <fmt/format.h>

#include <functional>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/solve/solve.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

constexpr double mass = -0.6;

HostGauge test_gauge(const Lattice& lattice) { return hot_gauge(lattice, 5); }

/// M x or M^+ x, dense.
struct Matrix {
  HostGauge gauge;
  HostSpinor operator()(const HostSpinor& x, bool dagger = false) const {
    return reference::wilson(gauge, x, mass, dagger);
  }
};

HostSpinor add(const HostSpinor& y, Complex64 a, const HostSpinor& x) { return reference::combine(1, y, a, x); }
using reference::norm;

/// Residuals after each iteration from x = 0, as the recurrence has them, relative to the first.
using History = std::vector<double>;
/// What becomes of a right-hand side: its history, and |b - A x| / |b| in the end.
struct Course {
  History residuals;
  double reached;
};
/// The courses of all right-hand sides in `count` iterations.
using CoursesOf = std::function<std::vector<Course>(const Matrix& a, const std::vector<HostSpinor>& b, int count)>;

/// Of methods of one right-hand side whose recurrence has b - A x.
template <class Plain>
CoursesOf single(const Plain& plain) {
  return [=](const Matrix& a, const std::vector<HostSpinor>& b, int count) {
    const History h = plain(a, b.at(0), count);
    return std::vector<Course>{{h, h.back()}};
  };
}

/// What conjugate gradients on A^+ A X = A^+ B do in one Krylov space for all right-hand sides: each |b - A x| is the
/// least over the span of (A^+ A)^i A^+ B, i < k (D. P. O'Leary, Linear Algebra Appl. 29 (1980) 293; Saad,
/// section 8.3), found here by projection on the images of that space. The recurrence has A^+ (b - A x).
std::vector<Course> least_residuals(const Matrix& a, const std::vector<HostSpinor>& b, int count) {
  std::vector<HostSpinor> rest = b, images;
  std::vector<Course> courses(b.size());
  for (int k = 0; k < count; ++k) {
    for (std::size_t m = 0; m < b.size(); ++m) {
      HostSpinor q = a(a(k == 0 ? b[m] : images[images.size() - b.size()], true));
      for (int pass = 0; pass < 2; ++pass)
        for (const HostSpinor& image : images) q = add(q, -reference::dot(image, q), image);
      images.push_back(reference::combine(1 / norm(q), q, 0, q));
      for (HostSpinor& r : rest) r = add(r, -reference::dot(images.back(), r), images.back());
    }
    for (std::size_t n = 0; n < b.size(); ++n) {
      courses[n].residuals.push_back(norm(a(rest[n], true)) / norm(a(b[n], true)));
      courses[n].reached = norm(rest[n]) / norm(b[n]);
    }
  }
  return courses;
}

/// H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631, section 3.
History bicgstab(const Matrix& a, const HostSpinor& b, int count) {
  HostSpinor r = b, p(b.lattice), v(b.lattice);
  Complex64 rho = 1, alpha = 1, omega = 1;
  History h;
  for (int k = 0; k < count; ++k) {
    const Complex64 rho_old = std::exchange(rho, reference::dot(b, r));
    p = add(r, rho / rho_old * alpha / omega, add(p, -omega, v));
    v = a(p);
    alpha = rho / reference::dot(b, v);
    const HostSpinor s = add(r, -alpha, v), t = a(s);
    omega = reference::dot(t, s) / reference::dot(t, t);
    r = add(s, -omega, t);
    h.push_back(norm(r) / norm(b));
  }
  return h;
}

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

struct MethodCase {
  std::string name;
  Method method;
  MethodParameters parameters;
  CoursesOf paper;
  int count = 8;
  int columns = 1;
};

std::vector<MethodCase> methods_and_courses() {
  std::vector<MethodCase> all = {{"cg", Method::cg, {}, least_residuals, 12},
                                 {"block_cg", Method::block_cg, {}, least_residuals, 5, 3},
                                 {"bicgstab", Method::bicgstab, {}, single(bicgstab)},
                                 {"cgne", Method::cgne, {}, single(craig), 12}};
  for (const double omega : {0.8, 1.0, 1.2})
    all.push_back(
        {fmt::format("mr_{:.0f}", 10 * omega), Method::mr, {.omega = omega}, single([omega](auto& a, auto& b, int n) {
           return minimal_residual(a, b, n, omega);
         })});
  for (const int m : {1, 3, 7, 10})
    for (const int steps : {0, 3}) {
      MethodParameters p = {.restart = m};
      if (steps > 0) p.preconditioner = InnerMethod{Method::mr, steps};
      all.push_back({fmt::format("gcr_{}_{}", m, steps), Method::gcr, p,
                     single([m, steps](auto& a, auto& b, int n) { return conjugate_residuals(a, b, n, m, steps); }),
                     steps > 0 ? 5 : 12});
    }
  for (const int l : {1, 2, 3, 4})
    all.push_back({fmt::format("bicgstab_l_{}", l),
                   Method::bicgstab_l,
                   {.l = l},
                   single([l](auto& a, auto& b, int n) { return bicgstab_l(a, b, n, l); }),
                   8 / l});
  return all;
}

class Paper : public testing::TestWithParam<MethodCase> {};

TEST_P(Paper, GivesTheSameResiduals) {
  const MethodCase& c = GetParam();
  const Lattice lattice({4, 4, 4, 4});
  std::vector<HostSpinor> sources;
  for (int n = 0; n < c.columns; ++n) sources.push_back(reference::random_spinor(lattice, 3 + unsigned(n)));
  const std::vector<Course> expected = c.paper(Matrix{test_gauge(lattice)}, sources, c.count);
  for (const auto& device : support::devices()) {
    SolveSettings settings;
    settings.method = c.method;
    settings.parameters = c.parameters;
    settings.even_odd_form = EvenOddForm::none;
    settings.options.tolerance = 1e-12;
    settings.options.max_iterations = c.count;
    std::vector<History> residuals(sources.size());
    settings.options.rhs_observer = [&](int n, int, double residual) { residuals.at(n).push_back(residual); };
    const auto domain = std::make_shared<Domain>(lattice, device);
    const Solver solver(dense::wilson(mass), test_gauge(lattice), domain, settings);
    SpinorField b(domain, find_precision("double"), Subset::full, c.columns), x = b.like();
    for (int n = 0; n < c.columns; ++n) upload(sources[n], b, solver.basis(), n);
    const std::vector<SolveReport> reports = solver.solve_all(x, b);
    for (int n = 0; n < c.columns; ++n) {
      const auto& [history, reached] = expected[n];
      ASSERT_GT(history.back(), 1e-9);
      ASSERT_EQ(residuals[n].size(), history.size()) << device->name();
      for (std::size_t k = 0; k < history.size(); ++k)
        EXPECT_NEAR(residuals[n][k], history[k], 1e-8 * history[k]) << device->name() << " iteration " << k + 1;
      EXPECT_NEAR(reports[n].residual, reached, 1e-7 * reached);  // the true one
      EXPECT_EQ(reports[n].iterations, c.count);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Paper, testing::ValuesIn(methods_and_courses()),
                         [](const auto& info) { return info.param.name; });

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
        const Solver solver(dense::wilson(-0.2), gauge, domain, settings);
        SpinorField b(domain, find_precision("double"), Subset::full, 3), x = b.like(), again = b.like();
        for (int n = 0; n < 3; ++n) upload(reference::random_spinor(lattice, 3 + n), b, solver.basis(), n);
        const std::vector<SolveReport> reports = solver.solve_all(x, b);
        solver.solve_all(again, b);
        for (int n = 0; n < 3; ++n) {
          EXPECT_TRUE(reports[n].converged) << inner << " " << precision << " " << reports[n].residual;
          EXPECT_EQ(dense::get(x, solver.basis(), n)[0].site, dense::get(again, solver.basis(), n)[0].site)
              << inner << " " << precision;
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
      const Solver solver(dense::wilson(-2.1), test_gauge(lattice), domain, settings);
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
  EXPECT_THROW(check(Method::cg, {.preconditioner = InnerMethod{Method::mr, 4}}), UsageError);
  EXPECT_THROW(check(Method::gcr, {.preconditioner = InnerMethod{Method::mr, 0}}), UsageError);
  EXPECT_NO_THROW(check(Method::gcr, {.restart = 32, .preconditioner = InnerMethod{Method::mr, 4}}));
}

}  // namespace
