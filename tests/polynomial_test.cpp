// The polynomial smoother of multigrid: GMRES's residual polynomial, and what it does in each precision.
#include "solvers/multigrid/polynomial.hpp"
#include "solvers/multigrid/cycle.hpp"
#include "solvers/multigrid/noise.hpp"
#include "tests/multigrid_levels.hpp"
#include "tests/quark.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// Wilson quarks of Gaussian links, whose hopping term is far from normal.
struct Smoothed {
  std::shared_ptr<Domain> domain;
  LinkStore links;
  std::unique_ptr<DiracOperator> dirac;
  std::unique_ptr<EvenOddOperator> a;

  Smoothed(const std::shared_ptr<Device>& device, const char* precision, const HostGauge& gauge, int rhs)
      : domain(std::make_shared<Domain>(gauge.lattice, device)),
        links(gauge, domain, "r12", "non_relativistic"),
        dirac(dense::wilson(-0.4).make(links, find_precision(precision))),
        a(dirac->even_odd_operator(EvenOddForm::symmetric, rhs)) {}
};

HostGauge rough() { return weak_gauge(Lattice({4, 4, 4, 8}), 0.4, 9); }
const BasisInfo& basis() { return find_basis("non_relativistic"); }

TEST(PolynomialSmoother, LeavesOfNoiseWhatGmresLeaves) {
  constexpr int degree = 6;
  for (const auto& device : support::devices()) {
    const Smoothed s(device, "single", rough(), 1);
    const std::vector<Complex64> roots = smoothing_roots(*s.a, basis(), degree);
    SpinorField noise = s.a->field(), x = noise.like(), left = noise.like(), image = noise.like();
    draw(noise, basis(), 2);
    PolynomialSmoother smoother(*s.a, roots, 1);
    smoother.apply(x, noise, 1);
    s.a->apply(left, x, Dagger::no);
    const Blas blas(noise);
    const double size = blas.norm2(noise), rest = blas.residual(noise, left);
    EXPECT_LT(rest, 0.2 * size);
    // The least residual of a Krylov space is orthogonal to its image.
    SpinorField power = noise.like();
    power.copy_from(noise);
    for (int n = 0; n < degree; ++n) {
      s.a->apply(image, power, Dagger::no);
      EXPECT_LT(std::abs(blas.dot(image, left)), 1e-5 * std::sqrt(blas.norm2(image) * size)) << n;
      power.copy_from(image);
    }
  }
}

TEST(PolynomialSmoother, WhatIsLeftIsTheProductOfTheFactors) {
  const std::vector<Complex64> roots = {{1.1, -0.2}, {0.4, 0.5}, {0.9, 0.1}};
  for (const auto& device : support::devices()) {
    const Smoothed s(device, "single", rough(), 3);
    SpinorField b = s.a->field(3), x = b.like(), left = b.like(), image = b.like();
    draw(b, basis(), 20);
    x.fill(0xff);  // what an output held before does not count
    PolynomialSmoother(*s.a, roots, 3).apply(x, b, 3);
    s.a->apply(left, x, Dagger::no);
    const Blas blas(b);
    blas.residual(b, left);
    for (const Complex64& root : roots) {
      s.a->apply(image, b, Dagger::no);
      blas.axpby(-1.0 / root, image, Complex64(1), b);
    }
    EXPECT_LT(multigrid_levels::distance(b, left), 1e-5);
  }
}

TEST(PolynomialSmoother, WorksInHalfOnFieldsInSingle) {
  for (const auto& device : support::devices()) {
    const Smoothed half(device, "half", rough(), 2), single(device, "single", rough(), 2);
    const std::vector<Complex64> roots = smoothing_roots(*single.a, basis(), 5);
    SpinorField b = single.a->field(2), x = b.like(), y = b.like();
    draw(b, basis(), 30);
    PolynomialSmoother(*single.a, roots, 2).apply(x, b, 2);
    Converted(std::make_unique<PolynomialSmoother>(*half.a, roots, 2), *half.a, b.precision(), 2).apply(y, b, 2);
    EXPECT_LT(multigrid_levels::distance(x, y), 1e-3);
  }
}

/// As by way of double.
TEST(Converter, GoesFromHalfToSingleAndBackAtOnce) {
  for (const auto& device : support::devices()) {
    const Smoothed s(device, "half", rough(), 2);
    const PrecisionInfo &single = find_precision("single"), &high = find_precision("double");
    SpinorField low = s.a->field(2), again = low.like(), between = s.a->field(2, single),
                in_double = s.a->field(2, high), other = between.like();
    draw(low, basis(), 40);
    const Converter direct(*s.a, s.a->precision(), single, 2);
    direct(low, between);
    convert(low, in_double);
    convert(in_double, other);
    EXPECT_EQ(Blas(between).residual(between, other), 0);
    draw(between, basis(), 50);
    direct(between, again);
    convert(between, in_double);
    convert(in_double, low);
    EXPECT_LT(multigrid_levels::distance(low, again), 1e-7);  // factors of sites are rounded in single
  }
}

}  // namespace
