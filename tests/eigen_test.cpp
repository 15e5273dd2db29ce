// Eigenpairs against dense diagonalisation, those of the free field, which are multiple, and what others have found.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/io/gauge.hpp"
#include "solvers/eigen/eigen_operator.hpp"
#include "solvers/krylov/blas.hpp"
#include "tests/data.hpp"
#include "tests/dense_matrix.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// An action on links of a device.
struct Quark {
  Quark(const Action& a, const HostGauge& links, const std::shared_ptr<Device>& device)
      : action(a),
        gauge(links),
        domain(std::make_shared<Domain>(links.lattice, device, Communicator::self(), a.reach())),
        dirac(dense::dirac(action, gauge, domain)) {}
  Eigenpairs find(Spectrum kind, EvenOddForm form, const EigenOptions& options) const {
    return EigenOperator(kind, action, *dirac, basis, form, options.block).find(options);
  }
  Action action;
  HostGauge gauge;
  DomainPointer domain;
  std::unique_ptr<DiracOperator> dirac;
  const BasisInfo& basis = find_basis("non_relativistic");
};

std::vector<double> by_modulus(std::vector<double> values) {
  std::sort(values.begin(), values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  return values;
}

/// The operator that is meant, of matrices that other tests have compared with the reference.
std::vector<double> dense_spectrum(const Quark& q, Spectrum kind, EvenOddForm form) {
  Dense h;
  if (kind == Spectrum::hermitian) {
    h = dense::matrix_of(q.dirac->matrix(), q.basis, true);
    EXPECT_LE((h - h.adjoint()).norm(), 1e-12 * h.norm());
  } else {
    const bool full = kind == Spectrum::staggered || form == EvenOddForm::none;
    const auto reduced = full ? nullptr : q.dirac->even_odd_operator(form, 1);
    const Dense m = dense::matrix_of(full ? static_cast<const LinearOperator&>(q.dirac->matrix()) : *reduced, q.basis);
    if (kind == Spectrum::staggered) {  // M = t + h D: the even sites of -(M - t)^2
      const Dense d = m - q.action.values()(q.action.info().diagonal) * Dense::Identity(m.rows(), m.cols());
      const Dense square = -dense::product(d, d);
      std::vector<Eigen::Index> even;
      const Lattice& lattice = q.gauge.lattice;
      for (Eigen::Index i = 0; i < square.rows(); ++i)
        if (Lattice::parity(lattice.coordinates(i / 3)) == Parity::even) even.push_back(i);
      h = square(even, even);
    } else {
      h = !full && reduced->hermitian() ? m : dense::product(m.adjoint(), m);
    }
  }
  const Eigen::VectorXd values = eigen_of(h).values;
  return by_modulus({values.begin(), values.end()});
}

void expect_orthonormal(const Eigenpairs& pairs) {
  const Blas blas(pairs.vectors);
  for (int i = 0; i < pairs.vectors.rhs(); ++i)
    for (int j = 0; j <= i; ++j)
      EXPECT_LE(std::abs(blas.dot(pairs.vectors.columns(i, 1), pairs.vectors.columns(j, 1)) - (i == j ? 1.0 : 0.0)),
                1e-11);
}

void expect_values(const Eigenpairs& pairs, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(pairs.values.size(), expected.size());
  for (std::size_t n = 0; n < expected.size(); ++n) EXPECT_NEAR(pairs.values[n], expected[n], tolerance) << n;
  EXPECT_TRUE(pairs.converged);
  EXPECT_GT(pairs.applications, 0);
}

struct EigenCase {
  std::string name;
  Action action;
  Coordinates extent;
  Spectrum kind;
  EvenOddForm form = EvenOddForm::none;
};

class DenseSpectrum : public testing::TestWithParam<EigenCase> {};

TEST_P(DenseSpectrum, HasTheSameEndsAsLanczosFinds) {
  const EigenCase& c = GetParam();
  for (const auto& device : support::devices()) {
    const Quark q(c.action, weak_gauge(Lattice(c.extent), 0.4, 5), device);
    const std::vector<double> all = dense_spectrum(q, c.kind, c.form);
    for (const bool largest : {false, true})
      for (const int block : {1, 4}) {
        const Eigenpairs pairs =
            q.find(c.kind, c.form, {.count = 12, .largest = largest, .tolerance = 1e-9, .block = block});
        const auto from = largest ? all.end() - 12 : all.begin();
        expect_values(pairs, {from, from + 12}, 1e-10);
        expect_orthonormal(pairs);
        for (const double r : pairs.residuals) EXPECT_LE(r, 1e-9);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operators, DenseSpectrum,
    testing::Values(
        EigenCase{"wilson", dense::wilson(0.1), {4, 2, 2, 2}, Spectrum::normal},
        EigenCase{"wilson_even_odd", dense::wilson(-0.2), {4, 4, 2, 2}, Spectrum::normal, EvenOddForm::symmetric},
        EigenCase{"clover_even_odd", dense::wilson(0, 1), {4, 4, 2, 2}, Spectrum::normal, EvenOddForm::asymmetric},
        EigenCase{"clover", dense::wilson(-0.3, 1), {4, 2, 2, 2}, Spectrum::hermitian},
        EigenCase{"domain_wall", {"domain_wall", {{"mass", 0.1}, {"m5", 1.5}}}, {2, 2, 2, 2}, Spectrum::normal},
        EigenCase{"staggered", {"staggered", {{"mass", 0.3}}}, {4, 4, 4, 2}, Spectrum::staggered},
        EigenCase{"staggered_normal",
                  {"staggered", {{"mass", 0.3}}},
                  {4, 4, 4, 2},
                  Spectrum::normal,
                  EvenOddForm::symmetric}),
    [](const auto& info) { return info.param.name; });

/// Two eigenvalues lambda and -lambda' of gamma_5 M with moduli 8e-8 apart: the vectors of H^2 mix both, also where the
/// last that is wanted is one of them.
TEST(NearlyOpposite, EigenvaluesAreFoundToTheTolerance) {
  for (const auto& device : support::devices()) {
    const Quark q(dense::wilson(-1.189405130668438), weak_gauge(Lattice({4, 4, 2, 2}), 0.4, 5), device);
    const std::vector<double> all = dense_spectrum(q, Spectrum::hermitian, EvenOddForm::none);
    ASSERT_LT(all[4] * all[5], 0);
    ASSERT_NEAR(std::abs(all[5]) - std::abs(all[4]), 8e-8, 1e-8);
    for (const int count : {5, 6}) {
      const Eigenpairs pairs = q.find(Spectrum::hermitian, EvenOddForm::none, {.count = count, .tolerance = 1e-11});
      expect_values(pairs, {all.begin(), all.begin() + count}, 1e-11);
      expect_orthonormal(pairs);
    }
  }
}

/// M^+ M of the free Wilson operator is (m + sum (1 - cos p))^2 + sum sin^2 p, 12 times for each momentum.
TEST(FreeField, AllOfMultipleEigenvaluesAreFound) {
  const Lattice lattice({4, 4, 4, 4});
  constexpr double mass = 0.2;
  std::vector<double> all, roots;
  for (long long i = 0; i < lattice.sites(); ++i) {
    double scalar = mass, sines = 0;
    const Coordinates n = lattice.coordinates(i);
    for (int mu = 0; mu < directions; ++mu) {
      const double p = std::numbers::pi * (2 * n[mu] + (mu == 3 ? 1 : 0)) / 4;
      scalar += 1 - std::cos(p);
      sines += std::sin(p) * std::sin(p);
    }
    all.insert(all.end(), 12, scalar * scalar + sines);
  }
  std::sort(all.begin(), all.end());
  for (const auto& device : support::devices()) {
    const Quark q(dense::wilson(mass), weak_gauge(lattice, 0, 1), device);
    constexpr int count = 40;  // 24 of the first, and not all of the second
    const Eigenpairs pairs = q.find(Spectrum::normal, EvenOddForm::none, {.count = count, .tolerance = 1e-9});
    expect_values(pairs, {all.begin(), all.begin() + count}, 1e-10);
    expect_orthonormal(pairs);
    const Eigenpairs signs = q.find(Spectrum::hermitian, EvenOddForm::none, {.count = count, .tolerance = 1e-9});
    ASSERT_TRUE(signs.converged) << signs.worst();
    for (int n = 0; n < count; ++n)
      EXPECT_NEAR(std::abs(signs.values[std::size_t(n)]), std::sqrt(all[std::size_t(n)]), 1e-10);
    expect_orthonormal(signs);
  }
}

/// The whole spectrum: the basis spans all there is.
TEST(FreeField, TheWholeSpectrumIsFound) {
  for (const auto& device : support::devices()) {
    const Quark q({"staggered", {{"mass", 0.1}}}, weak_gauge(Lattice({2, 2, 2, 4}), 0.3, 2), device);
    const Eigenpairs pairs = q.find(Spectrum::staggered, EvenOddForm::none, {.count = 48, .tolerance = 1e-10});
    expect_values(pairs, dense_spectrum(q, Spectrum::staggered, EvenOddForm::none), 1e-10);
  }
}

TEST(EigenOperator, RefusesWhatAnActionDoesNotHave) {
  const HostGauge gauge = weak_gauge(Lattice({4, 4, 4, 4}), 0.3, 2);
  const auto expect_refusal = [&](const Action& action, Spectrum kind, int count) {
    EXPECT_THROW(Quark(action, gauge, Device::cpu()).find(kind, EvenOddForm::none, {.count = count}), UsageError);
  };
  expect_refusal(dense::wilson(0.1), Spectrum::staggered, 1);
  expect_refusal({"staggered", {{"mass", 0.1}}}, Spectrum::hermitian, 1);
  expect_refusal({"twisted_mass", {{"mass", 0.1}, {"mu", 0.1}}}, Spectrum::hermitian, 1);
  expect_refusal(dense::wilson(0.1), Spectrum::normal, 3073);  // of 3072
}

TEST(EigenData, HermitianCloverOfAnIndependentProgram) {
  REQUIRE_DATA();
  const auto expected = data::read_json("measure/eigenvalues_deflation.json")["hermitian_clover"];
  const std::vector<double> lowest = expected["eigenvalues_lowest_absolute"];
  const HostGauge gauge =
      read_gauge(data::folder() / "latticeqcd_jl/conf_wilson_kappa0.141139.ildg", Lattice({4, 4, 4, 4})).gauge;
  for (const auto& device : support::devices()) {
    const Quark q(dense::wilson(0, 1), gauge, device);
    const int count = static_cast<int>(lowest.size());
    expect_values(q.find(Spectrum::hermitian, EvenOddForm::none, {.count = count}), lowest, 2e-12);
    std::vector<double> squares;
    for (const double value : lowest) squares.push_back(value * value);
    expect_values(q.find(Spectrum::normal, EvenOddForm::none, {.count = count}), squares, 5e-12);
    const std::vector<double> ends = expected["eigenvalues_extreme"];
    expect_values(q.find(Spectrum::hermitian, EvenOddForm::none, {.count = 2, .largest = true}), ends, 2e-12);
  }
}

}  // namespace
