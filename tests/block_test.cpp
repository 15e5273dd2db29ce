// Block conjugate gradients: kernels and matrices against plain sums, solves against the dense reference, right-hand
// sides that depend on each other.
#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/block_cg.hpp"
#include "solvers/solve/solve.hpp"
#include "tests/lossy.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

constexpr int columns = 8;

class BlockKernel : public testing::TestWithParam<support::KernelCase> {
 public:
  /// Random right-hand sides and what the storage kept of them.
  static std::vector<HostSpinor> fill(SpinorField& f, unsigned seed) {
    std::vector<HostSpinor> kept;
    for (int n = 0; n < f.rhs(); ++n) {
      upload(reference::random_spinor(f.domain().lattice(), seed + unsigned(n)), f, find_basis("degrand_rossi"), n);
      kept.push_back(stored(f, n));
    }
    return kept;
  }
  static HostSpinor stored(const SpinorField& f, int n) {
    HostSpinor h(f.domain().lattice());
    download(f, h, find_basis("degrand_rossi"), n);
    return h;
  }
};

TEST_P(BlockKernel, AgreesWithPlainSums) {
  const Kernel& kernel = *GetParam().kernel;
  const bool dot = kernel.operation == "block_dot", added = kernel.operation == "block_update";
  for (const Coordinates& extent : {Coordinates{4, 4, 4, 4}, Coordinates{6, 2, 2, 2}}) {
    const Lattice lattice(extent);
    const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
    const Components components(kernel.spins, kernel.colours);
    SpinorField x(domain, find_precision(kernel.precision), Subset::full, 12, components),
        y(domain, x.precision(), Subset::full, columns, components), z = y.like();
    const std::vector<HostSpinor> xs = fill(x, 10), ys = fill(y, 50), zs = fill(z, 90);
    Arguments a = arguments_for(*domain, x.lanes(), dot ? 12 / 4 * columns : columns);
    a.count = x.count();
    a.columns = dot ? 12 : 7;  // a combination takes any number
    a.x = x.operand();
    a.y = y.operand();
    a.z = z.operand();
    if (dot) {
      const std::vector<double> sums = GetParam().device->reduce(kernel, a);
      EXPECT_EQ(GetParam().device->reduce(kernel, a), sums);
      const double limit = 2 * support::tolerance(kernel.precision, "").norm * 24.0 * lattice.sites();
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < columns; ++j) {
          const Complex64 expected = reference::dot(xs[i], ys[j]);
          const double* at = &sums.at(std::size_t(4 * (j / 4 * 3 + i / 4) * kernel.sums + 2 * (4 * (i % 4) + j % 4)));
          EXPECT_LE(std::abs(Complex64(at[0], at[1]) - expected), limit) << i << " " << j;
        }
      continue;
    }
    std::vector<Complex64> m;
    for (int n = 0; n < a.columns * columns; ++n) m.emplace_back(0.1 * (n % 11) - 0.4, 0.07 * (n % 13) - 0.5);
    const Memory memory(GetParam().device, m.size() * sizeof(Complex64));
    GetParam().device->upload(memory.data(), m.data(), memory.bytes());
    a.scalars = static_cast<double*>(memory.data());
    GetParam().device->run(kernel, a);
    for (int j = 0; j < columns; ++j) {
      HostSpinor expected(lattice);
      for (int i = 0; i < a.columns; ++i)
        expected = reference::combine(1, expected, m[std::size_t(i * columns + j)], xs[std::size_t(i)]);
      if (added) expected = reference::combine(1, expected, 1, zs[std::size_t(j)]);
      const support::Deviation d = support::compare(stored(y, j), expected),
                               limit = support::tolerance(kernel.precision, "");
      EXPECT_LE(d.norm, limit.norm) << j;
      EXPECT_LE(d.largest, limit.largest) << j;
    }
  }
}

FOR_KERNELS(BlockKernel, k.family == "block");

/// Columns as a matrix of few rows.
Dense random_dense(int rows, int n, unsigned seed) {
  Dense m(rows, n);
  std::srand(seed);
  for (Complex64& z : m.reshaped<Eigen::RowMajor>()) {
    const double re = std::rand() / double(RAND_MAX) - 0.5;
    z = {re, std::rand() / double(RAND_MAX) - 0.5};
  }
  return m;
}
double distance(const Dense& a, const Dense& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  return (a - b).cwiseAbs().maxCoeff();
}

TEST(Dense, FactorisesGramMatricesOfAnyRank) {
  for (const bool scaled : {false, true}) {
    Dense z = random_dense(20, 7, 3);
    for (int i = 0; i < 20; ++i) {
      z(i, 2) = z(i, 0) - Complex64(0, 2) * z(i, 5);
      z(i, 4) = 0;
      z(i, 6) *= scaled ? 1e-9 : 0.1;
    }
    const RankRevealing f = factorise(z.adjoint() * z, 1e-12, scaled);
    ASSERT_EQ(f.s.rows(), 5);
    const Dense q = z * f.t;
    EXPECT_LE(distance(q.adjoint() * q, Dense::Identity(5, 5)), 1e-11);
    EXPECT_LE(distance(q * f.s, z), 1e-12);
    EXPECT_GT(f.pivots[0], 1e-12 * f.pivots[1]);
  }
  EXPECT_EQ(factorise(Dense::Zero(3, 3), 1e-12, true).s.rows(), 0);
}

TEST(Dense, InvertsWhatIsPositive) {
  const Dense z = random_dense(20, 6, 5);
  const Dense a = z.adjoint() * z;
  EXPECT_LE(distance(a * inverse_of_positive(a), Dense::Identity(6, 6)), 1e-12);
  Dense indefinite = Dense::Identity(3, 3);
  indefinite(1, 1) = -1;
  EXPECT_EQ(inverse_of_positive(indefinite).rows(), 0);
}

struct System {
  static constexpr double mass = -0.65;  // nearly critical
  System(const std::shared_ptr<Device>& device, const Coordinates& extent, const std::string& precision, Method method)
      : lattice(extent), gauge(weak_gauge(lattice, 0.3, 5)), domain(std::make_shared<Domain>(lattice, device)) {
    settings.method = method;
    settings.precision = precision;
    settings.options.tolerance = 1e-10;
    settings.options.max_iterations = 3000;
  }
  SpinorField sources(int rhs) const {
    SpinorField b(domain, find_precision("double"), Subset::full, rhs);
    for (int n = 0; n < rhs; ++n)
      upload(reference::random_spinor(lattice, 3 + unsigned(n)), b, find_basis("non_relativistic"), n);
    return b;
  }
  std::vector<SolveReport> solve(SpinorField& x, const SpinorField& b) const {
    return Solver(dense::wilson(mass), gauge, domain, settings).solve_all(x, b);
  }
  HostSpinor host(const SpinorField& x, int n) const { return dense::get_one(x, find_basis("non_relativistic"), n); }
  double residual(const SpinorField& b, const SpinorField& x, int n) const {
    return reference::residual(host(b, n), reference::wilson(gauge, host(x, n), mass));
  }

  Lattice lattice;
  HostGauge gauge;
  DomainPointer domain;
  SolveSettings settings;
};

class BlockSolve : public testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(BlockSolve, ReachesTheTrueResidualInFewerIterations) {
  const auto [precision, fraction] = GetParam();
  for (const auto& device : support::devices())
    for (const Coordinates& extent : {Coordinates{4, 4, 4, 4}, Coordinates{4, 4, 4, 8}}) {
      const System block(device, extent, precision, Method::block_cg), single(device, extent, precision, Method::cg);
      const SpinorField b = block.sources(12);
      SpinorField x = b.like(), again = b.like(), c = single.sources(12), y = c.like();
      const std::vector<SolveReport> reports = block.solve(x, b), others = single.solve(y, c);
      block.solve(again, b);
      for (int n = 0; n < 12; ++n) {
        EXPECT_TRUE(reports[n].converged) << n;
        EXPECT_LE(reports[n].residual, 1e-10) << n;
        EXPECT_NEAR(block.residual(b, x, n), reports[n].residual, 1e-12) << n;
        EXPECT_LT(reports[n].iterations, fraction * others[n].iterations) << n;
        EXPECT_EQ(block.host(x, n).site, block.host(again, n).site) << n;
      }
    }
}

TEST_P(BlockSolve, TakesRightHandSidesThatDependOnEachOther) {
  for (const auto& device : support::devices()) {
    const System s(device, {4, 4, 4, 8}, GetParam().first, Method::block_cg);
    SpinorField b = s.sources(14);  // more than one block
    const Blas blas(*device, b.precision());
    SpinorField third = b.columns(3, 1), nearly = b.columns(8, 1);
    blas.axpby(Complex64(0, 2), b.columns(1, 1), Complex64(0), third);
    blas.axpby(Complex64(1), b.columns(2, 1), Complex64(1), third);  // b_3 = 2i b_1 + b_2
    b.columns(7, 1).copy_from(b.columns(1, 1));
    blas.axpby(1.0, b.columns(6, 1), 1e-8, nearly);  // as good as dependent
    SpinorField x = b.like();
    const std::vector<SolveReport> reports = s.solve(x, b);
    for (int n = 0; n < 14; ++n) {
      EXPECT_TRUE(reports[n].converged) << n;
      EXPECT_LE(s.residual(b, x, n), 1.01e-10) << n;
    }
    const auto said = [](const SolverEvent& e) { return e.what.find("depend on the others") != std::string::npos; };
    EXPECT_TRUE(std::any_of(reports[0].events.begin(), reports[0].events.end(), said));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, BlockSolve,  // A new block for each correction: lower precisions gain less.
                         testing::Values(std::pair{"double", 0.7}, std::pair{"double-single", 0.8},
                                         std::pair{"double-half", 0.95}),
                         [](const auto& info) { return support::test_name(info.param.first); });

TEST(BlockConjugateGradients, KeepsTheBestIterateWhenNumbersAreLost) {
  const support::LossySystem s;
  BlockConjugateGradients block({*s.exact, s.lossy, false, 6, 0});
  const SpinorField b = s.sources(6);
  SpinorField x = b.like();
  x.fill(0);
  const std::vector<double> tolerances(6, 1e-10);
  const std::vector<SolverResult> results = block.improve(x, b, {}, tolerances);
  for (const SolverResult& r : results) EXPECT_LE(r.residual, 1e-10);  // by the block that followed
  ASSERT_FALSE(results[0].events.empty());
  EXPECT_NE(results[0].events[0].what.find("not positive"), std::string::npos) << results[0].events[0].what;
  for (const SolverResult& r : KrylovBatch(*s.exact, *s.exact, Method::cg, 6).solve(x, b, {}, tolerances)) {
    EXPECT_TRUE(r.converged);
    EXPECT_LE(r.residual, 1e-10);
  }
}

}  // namespace
