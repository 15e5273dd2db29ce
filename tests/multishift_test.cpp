// Shifted normal equations: the true residual of every shift, against the dense reference and against single solves.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/normal.hpp"
#include "solvers/solve/shifted.hpp"
#include "tests/lossy.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

const std::vector<double> all_shifts = {0.03, 0.0005, 0.4, 0.004, 3.0};  // not sorted; more than are refined together

/// A light operator on a device with a source for it.
struct ShiftedSystem {
  ShiftedSystem(const std::shared_ptr<Device>& device, const Coordinates& extent, const std::string& precision,
                EvenOddForm even_odd_form, int shifts = int(all_shifts.size()), int max_iterations = 3000)
      : lattice(extent), gauge(weak_gauge(lattice, 0.3, 5)), domain(std::make_shared<Domain>(lattice, device)) {
    settings.precision = precision;
    settings.even_odd_form = even_odd_form;
    settings.options.tolerance = 1e-10;
    settings.options.max_iterations = max_iterations;
    solver = std::make_unique<ShiftedSolver>(action, gauge, domain, settings, shifts);
    source = reference::random_spinor(lattice, 3);
  }
  SpinorField field(int rhs = 1) const { return {domain, find_precision("double"), solver->subset(), rhs}; }
  SpinorField right_hand_side() const {
    SpinorField b = field();
    upload(source, b, solver->basis());
    return b;
  }
  HostSpinor host(const SpinorField& x, int n) const { return dense::get_one(x, solver->basis(), n); }
  /// The operator A of the shifted equations on host fields: M, or its even-odd form.
  HostSpinor apply(const HostSpinor& x, bool dagger) const {
    const dense::DenseAction m(action, gauge);
    return settings.even_odd_form == EvenOddForm::none ? m.matrix(x, dagger)
                                                       : m.even_odd({x}, settings.even_odd_form, dagger)[0];
  }
  /// (A^+ A + shift) x
  HostSpinor shifted(const HostSpinor& x, double shift) const {
    return reference::combine(1, apply(apply(x, false), true), shift, x);
  }
  double residual(const HostSpinor& b, const HostSpinor& x, double shift) const {
    return reference::residual(b, shifted(x, shift));
  }

  Lattice lattice;
  HostGauge gauge;
  DomainPointer domain;
  Action action = dense::wilson(-0.25);
  SolveSettings settings;
  std::unique_ptr<ShiftedSolver> solver;
  HostSpinor source{lattice};
};

class Multishift : public testing::TestWithParam<std::tuple<EvenOddForm, const char*>> {};

TEST_P(Multishift, ReachesTheTrueResidualOfEveryShift) {
  const auto [even_odd_form, precision] = GetParam();
  for (const auto& device : support::devices())
    for (const Coordinates& extent : {Coordinates{4, 4, 4, 4}, Coordinates{4, 4, 4, 8}}) {
      const ShiftedSystem s(device, extent, precision, even_odd_form);
      const SpinorField b = s.right_hand_side();
      const int count = int(all_shifts.size());
      SpinorField x = s.field(count), again = x.like(), one = s.field();
      x.fill(255);
      const std::vector<ShiftReport> reports = s.solver->solve(x, b, all_shifts);
      const std::vector<ShiftReport> repeated = s.solver->solve(again, b, all_shifts);
      const HostSpinor source = s.host(b, 0);
      for (int k = 0; k < count; ++k) {
        EXPECT_TRUE(reports[k].converged) << all_shifts[k];
        EXPECT_LE(reports[k].residual, 1e-10) << all_shifts[k];
        const HostSpinor solution = s.host(x, k);
        EXPECT_NEAR(s.residual(source, solution, all_shifts[k]), reports[k].residual, 2e-12) << all_shifts[k];
        EXPECT_EQ(solution.site, s.host(again, k).site) << all_shifts[k];
        EXPECT_EQ(reports[k].iterations, repeated[k].iterations);
        const ShiftReport single = s.solver->solve(one, b, {all_shifts[k]}).front();
        EXPECT_TRUE(single.converged);
        const HostSpinor d = reference::combine(1, solution, -1, s.host(one, 0));
        // |x_1 - x_2| <= |(A^+ A + sigma)^-1| |r_1 - r_2|
        EXPECT_LE(reference::norm(d), 2e-10 * reference::norm(source) / all_shifts[k]);
        // The common space serves a shift as its own would.
        if (k == 1) {
          EXPECT_NEAR(reports[k].shared_iterations, single.shared_iterations, 2);
        }
        EXPECT_LE(reports[k].shared_iterations, reports[1].shared_iterations);
        if (std::string_view(precision) == "double") {
          EXPECT_NEAR(reports[k].shared_iterations, single.shared_iterations, 2) << all_shifts[k];
          EXPECT_LE(reports[k].iterations - reports[k].shared_iterations, 5) << all_shifts[k];
        }
      }
      EXPECT_LT(reports[4].shared_iterations, reports[1].shared_iterations / 2);  // frozen early
    }
}

INSTANTIATE_TEST_SUITE_P(Modes, Multishift,
                         testing::Combine(testing::Values(EvenOddForm::none, EvenOddForm::symmetric),
                                          testing::Values("double", "double-single", "double-half")),
                         [](const auto& info) {
                           return support::test_name(
                               std::string(std::get<0>(info.param) == EvenOddForm::none ? "none_" : "symmetric_") +
                               std::get<1>(info.param));
                         });

/// The residual of every shift is that of conjugate gradients for it alone (M. R. Hestenes and E. Stiefel, J. Res.
/// Natl. Bur. Stand. 49 (1952) 409, eq. 3:1), on host vectors.
TEST(MultishiftSolver, GivesTheResidualsOfEveryShiftAlone) {
  constexpr int count = 12;
  using reference::combine, reference::dot, reference::norm;
  for (const auto& device : support::devices()) {
    ShiftedSystem s(device, {4, 4, 4, 4}, "double", EvenOddForm::none, int(all_shifts.size()), count);
    std::vector<std::vector<double>> seen(all_shifts.size());
    s.settings.options.rhs_observer = [&](int n, int iteration, double residual) {
      if (iteration <= count) seen.at(n).push_back(residual);  // those that follow are of other recurrences
    };
    const ShiftedSolver solver(s.action, s.gauge, s.domain, s.settings, int(all_shifts.size()));
    const SpinorField b = s.right_hand_side();
    SpinorField x = s.field(int(all_shifts.size()));
    solver.solve(x, b, all_shifts);
    for (std::size_t k = 0; k < all_shifts.size(); ++k) {
      HostSpinor r = s.source, p = r;
      ASSERT_EQ(seen[k].size(), std::size_t(count)) << all_shifts[k];
      for (int n = 0; n < count; ++n) {
        const double rr = dot(r, r).real();
        const HostSpinor q = s.shifted(p, all_shifts[k]);
        r = combine(1, r, -rr / dot(p, q).real(), q);
        p = combine(1, r, dot(r, r).real() / rr, p);
        EXPECT_NEAR(seen[k][n], norm(r) / norm(s.source), 1e-8 * seen[k][n]) << all_shifts[k] << " " << n + 1;
      }
    }
  }
}

TEST(MultishiftSolver, TakesSpecialCases) {
  for (const auto& device : support::devices()) {
    const ShiftedSystem s(device, {4, 4, 4, 4}, "double", EvenOddForm::symmetric);
    SpinorField b = s.right_hand_side(), x = s.field(3);
    const std::vector<ShiftReport> reports = s.solver->solve(x, b, {0.1, 0.1, 0});
    for (const ShiftReport& r : reports) EXPECT_TRUE(r.converged) << r.shift;
    EXPECT_EQ(s.host(x, 0).site, s.host(x, 1).site);
    EXPECT_THROW(s.solver->solve(x, b, {0.1, -0.2, 0.3}), UsageError);
    EXPECT_THROW(s.solver->solve(x, b, {0.1, 0.2}), UsageError);
  }
}

TEST(MultishiftSolver, ReportsWhatDidNotConverge) {
  for (const auto& device : support::devices())
    for (const char* precision : {"double", "double-single"}) {
      const ShiftedSystem s(device, {4, 4, 4, 4}, precision, EvenOddForm::none, 2, 12);
      const SpinorField b = s.right_hand_side();
      SpinorField x = s.field(2);
      const std::vector<ShiftReport> reports = s.solver->solve(x, b, {0.0005, 4000.0});
      EXPECT_FALSE(reports[0].converged);
      EXPECT_LE(reports[0].iterations, 24);  // as many in the common space as on its own
      EXPECT_TRUE(reports[1].converged) << reports[1].residual << " after " << reports[1].iterations;
      EXPECT_NEAR(s.residual(s.host(b, 0), s.host(x, 0), 0.0005), reports[0].residual, 1e-9);
    }
}

TEST(MultishiftSolver, SurvivesNumbersThatAreNotFinite) {
  const support::LossySystem s;
  MultishiftSolver solver(*s.exact, s.lossy, 3);
  const SpinorField b = s.sources(1);
  SpinorField x(s.domain, b.precision(), b.subset(), 3);
  const std::vector<ShiftResult> results = solver.solve(x, b, {0.5, 0.01, 0.1}, {1e-10, 1e-10, 1e-10}, {});
  for (const ShiftResult& r : results) EXPECT_TRUE(r.converged) << r.residual;
  ASSERT_FALSE(results[1].events.empty());
  EXPECT_NE(results[1].events[0].what.find("not finite"), std::string::npos) << results[1].events[0].what;
}

/// Against power and inverse iteration.
TEST(MultishiftSolver, SeesTheEndsOfTheSpectrum) {
  const support::LossySystem s;
  const NormalOperator a(*s.exact, 1);
  const SpinorField b = s.sources(1);
  const Blas blas(b);
  MultishiftSolver solver(*s.exact, *s.exact, 2);
  EXPECT_FALSE(solver.ritz_values());
  SpinorField x(s.domain, b.precision(), b.subset(), 2);
  solver.solve(x, b, {0.3, 0.02}, {1e-12, 1e-12}, {});
  const auto seen = solver.ritz_values();
  ASSERT_TRUE(seen);
  SpinorField v = b.like(), w = b.like();
  const auto quotient = [&](int steps, const auto& step) {
    v.copy_from(b);
    for (int n = 0; n < steps; ++n) {
      step(w, v);
      blas.scale(1 / std::sqrt(blas.norm2(w)), w, v);
    }
    a.apply(w, v, Dagger::no);
    return blas.dot(v, w).real();
  };
  const double largest =
      quotient(1000, [&](SpinorField& to, const SpinorField& from) { a.apply(to, from, Dagger::no); });
  const double least =
      quotient(100, [&](SpinorField& to, const SpinorField& from) { solver.solve(to, from, {0}, {1e-6}, {}); });
  EXPECT_NEAR(seen->first / least, 1, 1e-2);
  EXPECT_NEAR(seen->second / largest, 1, 1e-2);
}

}  // namespace
