// Methods that learn from one right-hand side for the next: what they find against dense spectra, what it saves, and
// true residuals.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/eigcg.hpp"
#include "solvers/krylov/gmres_dr.hpp"
#include "solvers/krylov/harmonic.hpp"
#include "solvers/solve/solve.hpp"
#include "tests/dense_matrix.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// An even-odd operator on few sites, light enough for a few eigenvalues to stand apart.
struct LightQuark {
  LightQuark(const Action& a, const std::shared_ptr<Device>& device, const Coordinates& extent = {4, 4, 4, 8})
      : action(a),
        gauge(weak_gauge(Lattice(extent), 0.3, 5)),
        domain(std::make_shared<Domain>(gauge.lattice, device)) {}
  SpinorField sources(const LinearOperator& like, int rhs) const {
    SpinorField b = like.field(rhs);
    for (int n = 0; n < rhs; ++n)
      dense::put(dense::random(gauge.lattice, 1, 3 + unsigned(n), like.spins()), b, basis, n);
    return b;
  }
  Action action;
  HostGauge gauge;
  DomainPointer domain;
  const BasisInfo& basis = find_basis("non_relativistic");
};

struct RecyclingCase {
  std::string name, method, plain, precision;  ///< plain: the method that learns nothing
  Action action;
  double fraction;  ///< iterations of the last right-hand side over those that the plain method takes, at most
};

class Recycling : public testing::TestWithParam<RecyclingCase> {};

TEST_P(Recycling, LaterRightHandSidesTakeFewerIterations) {
  const RecyclingCase& c = GetParam();
  for (const auto& device : support::devices()) {
    const LightQuark q(c.action, device);
    SolveSettings settings;
    settings.parameters = {.restart = 30, .search = 30, .keep = 6};
    settings.precision = c.precision;
    settings.links = c.action.default_links("r12");
    settings.method = method_of(c.plain);
    const Solver plain(c.action, q.gauge, q.domain, settings);
    settings.method = method_of(c.method);
    const Solver solver(c.action, q.gauge, q.domain, settings);
    const SpinorField b = q.sources(solver.dirac().matrix(), 12);
    SpinorField x = b.like(), again = b.like();
    const std::vector<SolveReport> first = solver.solve_all(x, b);
    for (const SolveReport& r : first) EXPECT_TRUE(r.converged && r.residual <= 1e-10) << r.residual;
    EXPECT_EQ(first.front().vectors, 0);
    EXPECT_GE(first.back().vectors, 6);
    const double most = c.fraction * plain.solve_all(again, b).back().iterations;
    EXPECT_LT(first.back().iterations, most);
    for (int n : {0, 11}) EXPECT_NEAR(solver.residual(x.columns(n, 1), b.columns(n, 1)), first[n].residual, 1e-12);
    // What they have found is there for the next call, until it is left.
    EXPECT_LT(solver.solve_all(again, b).front().iterations, most);
    solver.forget();
    EXPECT_EQ(solver.solve_all(again, b).front().iterations, first.front().iterations);
  }
}

const Action staggered{"staggered", {{"mass", 0.02}}};

INSTANTIATE_TEST_SUITE_P(Methods, Recycling,
                         testing::Values(RecyclingCase{"eigcg", "eigcg", "cg", "double", dense::wilson(-0.65), 0.6},
                                         RecyclingCase{"eigcg_mixed", "eigcg", "cg", "double-single",
                                                       dense::wilson(-0.65), 0.65},
                                         RecyclingCase{"eigcg_staggered", "eigcg", "cg", "double", staggered, 0.8}),
                         [](const auto& info) { return info.param.name; });

/// From zero, for all right-hand sides.
void expect_solved(OuterSolver& solver, const SpinorField& b, double tolerance) {
  SpinorField x = b.like();
  x.fill(0);
  const std::vector<double> tolerances(static_cast<std::size_t>(b.rhs()), tolerance);
  for (const SolverResult& r : solver.improve(x, b, {}, tolerances)) EXPECT_TRUE(r.converged) << r.residual;
}

TEST(EigenConjugateGradients, FindsTheLeastEigenvalues) {
  for (const auto& device : support::devices()) {
    const LightQuark q(dense::wilson(-0.72), device, {4, 4, 2, 2});
    const auto dirac = dense::dirac(q.action, q.gauge, q.domain);
    const auto a = dirac->even_odd_operator(EvenOddForm::symmetric, 1);
    EigenConjugateGradients solver({*a, *a, false, 1, 0}, 30, 6);
    expect_solved(solver, q.sources(*a, 12), 1e-10);
    const Dense m = dense::matrix_of(*a, q.basis);
    const Eigen::VectorXd expected = eigen_of(dense::product(m.adjoint(), m)).values, found = solver.ritz_values();
    ASSERT_GE(found.size(), 30);
    for (int n = 0; n < found.size(); ++n) EXPECT_GE(found[n], expected[n] * (1 - 1e-10)) << n;
    for (int n = 0; n < 12; ++n) EXPECT_NEAR(found[n], expected[n], 2e-3 * expected[n]) << n;
  }
}

TEST(DeflatedGmres, KeepsHarmonicRitzValuesOfTheSpectrum) {
  for (const auto& device : support::devices()) {
    const LightQuark q(dense::wilson(-0.8), device, {4, 2, 2, 2});
    const auto dirac = dense::dirac(q.action, q.gauge, q.domain);
    const auto a = dirac->even_odd_operator(EvenOddForm::symmetric, 1);
    DeflatedGmres solver({*a, *a, false, 1, 0}, 24, 6);
    expect_solved(solver, q.sources(*a, 2), 1e-12);
    const Dense m = dense::matrix_of(*a, q.basis);
    Eigen::MatrixXcd alone = Eigen::MatrixXcd::Zero(m.rows() + 1, m.cols());  // harmonic ones of the whole space
    alone.topRows(m.rows()) = m;
    const Eigen::VectorXcd expected = Harmonic(alone).values;
    const Eigen::VectorXcd found = solver.harmonic_values();
    ASSERT_EQ(found.size(), 6);
    const double least = expected.cwiseAbs().minCoeff();
    EXPECT_NEAR(std::abs(found[0]), least, 5e-3 * least);
    for (int n = 0; n < 6; ++n)  // eigenvalues are further apart
      EXPECT_LE((expected.array() - found[n]).abs().minCoeff(), 0.05 * least) << n;
  }
}

TEST(EigenConjugateGradients, RefusesNumbersThatDoNotGoTogether) {
  EXPECT_NO_THROW(check(Method::eigcg, {.search = 21, .keep = 10}));
  for (const MethodParameters& p : {MethodParameters{.search = 20, .keep = 10}, {.search = 2}, {.keep = 0}})
    EXPECT_THROW(check(Method::eigcg, p), UsageError);
  SolveSettings half;
  half.method = Method::eigcg;
  half.precision = "double-half";
  const LightQuark q(dense::wilson(0.1), Device::cpu(), {4, 4, 4, 4});
  EXPECT_THROW(Solver(q.action, q.gauge, q.domain, half), UsageError);
}

}  // namespace
