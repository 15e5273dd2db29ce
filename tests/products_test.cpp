// The sums that hopping kernels make for the iterations of solvers, beside those of the fields that they leave.
#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/scalars.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

/// The groups of a right-hand side added up.
std::vector<double> totals(Device& device, const Memory& rows, int groups, int numbers, int rhs) {
  std::vector<double> all(static_cast<std::size_t>(groups) * numbers * (rhs + 1)), sums(numbers, 0.0);
  device.download(all.data(), rows.data(), all.size() * sizeof(double));
  for (int g = 0; g < groups; ++g)
    for (int n = 0; n < numbers; ++n) sums[n] += all[(static_cast<std::size_t>(rhs) * groups + g) * numbers + n];
  return sums;
}

void add(std::vector<double>& numbers, Complex64 z) {
  numbers.push_back(z.real());
  numbers.push_back(z.imag());
}

/// The numbers of out = A in and another field, and the squares of what their rounding is compared with.
std::pair<std::vector<double>, std::vector<double>> expected(const Blas& blas, ProductSums::Kind kind,
                                                             const SpinorField& in, const SpinorField& out,
                                                             const SpinorField& shadow) {
  const double xx = blas.norm2(in), yy = blas.norm2(out), uu = blas.norm2(shadow);
  std::vector<double> numbers;
  if (kind == ProductSums::Kind::shadow) {
    add(numbers, blas.dot(shadow, out));
    numbers.push_back(xx);
    return {numbers, {uu * yy, uu * yy, xx * xx}};
  }
  add(numbers, blas.dot(out, in));
  numbers.push_back(yy);
  numbers.push_back(xx);
  add(numbers, blas.dot(shadow, in));
  add(numbers, blas.dot(shadow, out));
  return {numbers, {xx * yy, xx * yy, yy * yy, xx * xx, uu * xx, uu * xx, uu * yy, uu * yy}};
}

class Products : public testing::TestWithParam<std::tuple<std::string, std::string, EvenOddForm>> {};

TEST_P(Products, AreThoseOfTheFields) {
  const auto& [name, precision, form] = GetParam();
  constexpr int rhs = 6, idle = 5;  // a tile of four, if there is one, and what it leaves, of which one rests
  const Lattice lattice({8, 4, 4, 6});
  const HostGauge gauge = hot_gauge(lattice, 5);
  std::map<std::string, double> parameters = {{"mass", -0.3}};
  if (name == "clover") parameters["csw_r"] = parameters["csw_t"] = 1.3;
  const Action action(name, parameters);
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(lattice, device);
    const LinkStore links(gauge, domain, "r12", "non_relativistic");
    const auto dirac = action.make(links, find_precision(precision));
    const auto a = dirac->even_odd_operator(form, rhs);
    EXPECT_EQ(a->sum_groups(), device->asynchronous() ? 12 : 0);
    SpinorField in = a->field(rhs), shadow = a->field(rhs), out = a->field(rhs), wanted = a->field(rhs);
    for (int n = 0; n < rhs; ++n) {
      upload(reference::random_spinor(lattice, 7 + unsigned(n)), in, find_basis("non_relativistic"), n);
      upload(reference::random_spinor(lattice, 70 + unsigned(n)), shadow, find_basis("non_relativistic"), n);
    }
    const Memory rows(device, std::max(1, a->sum_groups()) * 8 * rhs * sizeof(double));
    Scalars scalars(device, rhs);
    for (int n = 0; n < rhs; ++n) scalars.set(n, "active", n != idle);
    scalars.upload(0, rhs);
    for (const Dagger dagger : {Dagger::no, Dagger::yes})
      for (const auto kind : {ProductSums::Kind::shadow, ProductSums::Kind::all}) {
        const ProductSums sums = {kind, &shadow, static_cast<double*>(rows.data()), scalars.data(), Scalars::stride};
        out.fill(0);
        if (a->sum_groups() == 0) {
          EXPECT_FALSE(a->apply_summing(out, in, dagger, sums));
          continue;
        }
        ASSERT_TRUE(a->apply_summing(out, in, dagger, sums));
        a->apply(wanted, in, dagger);
        const Blas blas(out);
        const double single = precision == "double" ? 1e-13 : 1e-5;
        EXPECT_EQ(blas.norm2(out.columns(idle, 1)), 0);
        for (int n = 0; n < idle; ++n) {
          const SpinorField x = in.columns(n, 1), y = out.columns(n, 1), u = shadow.columns(n, 1);
          SpinorField again = wanted.columns(n, 1);
          EXPECT_LE(blas.residual(y, again), 1e-13 * blas.norm2(y)) << "right-hand side " << n;
          const auto [numbers, sizes] = expected(blas, kind, x, y, u);
          const std::vector<double> found = totals(*device, rows, a->sum_groups(), int(numbers.size()), n);
          for (std::size_t k = 0; k < numbers.size(); ++k)
            EXPECT_NEAR(found[k], numbers[k], single * std::sqrt(sizes[k])) << "right-hand side " << n << ", " << k;
        }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Products,
                         testing::Combine(testing::Values("wilson", "clover"),
                                          testing::Values("double", "single", "half"),
                                          testing::Values(EvenOddForm::symmetric, EvenOddForm::asymmetric)));

/// A lattice that does not fill groups of sites has its sums from the fields.
TEST(ProductsOfFewSites, AreNotMade) {
  const Lattice lattice({2, 2, 2, 6});
  for (const auto& device : support::devices()) {
    const auto domain = std::make_shared<Domain>(lattice, device);
    const HostGauge gauge = hot_gauge(lattice, 5);
    const auto dirac = dense::dirac(dense::wilson(0), gauge, domain, "r12");
    EXPECT_EQ(dirac->even_odd_operator(EvenOddForm::symmetric, 1)->sum_groups(), 0);
  }
}

}  // namespace
