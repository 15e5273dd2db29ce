// The clover term against its definition, its inverse, its determinant, and what a wrong definition would give.
#include "solvers/actions/clover.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/actions/wilson.hpp"
#include "tests/reference/reference.hpp"
#include "tests/site_terms.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;
using reference::SiteMatrices;

constexpr double space = 0.8, time_like = 1.3, diagonal = 3.9;

class Clover : public testing::TestWithParam<std::shared_ptr<Device>> {
 protected:
  /// Links rough enough that wrong leaves cannot hide.
  HostGauge gauge_ = weak_gauge(Lattice({4, 4, 6, 8}), 0.6, 4);

  CloverTerm term(const HostGauge& gauge) const {
    const auto domain = std::make_shared<Domain>(gauge.lattice, GetParam());
    const LinkField links = upload(gauge, domain, find_precision("double"), find_storage("r18"));
    return CloverTerm(links, space, time_like, diagonal, find_precision("double"));
  }
  static double deviation(const SiteMatrices& a, const SiteMatrices& b) {
    double largest = 0;
    for (std::size_t x = 0; x < a.size(); ++x)
      for (int n = 0; n < 144; ++n) largest = std::max(largest, std::abs(a[x][n] - b[x][n]));
    return largest;
  }
};

TEST_P(Clover, IsWhatItsDefinitionSays) {
  for (const Coordinates& extent : {Coordinates{4, 4, 6, 8}, Coordinates{2, 6, 2, 10}}) {
    const HostGauge gauge = weak_gauge(Lattice(extent), 0.6, 4);
    const SiteMatrices ours = support::whole_term(download(term(gauge).term()));
    EXPECT_LT(deviation(ours, reference::clover(gauge, diagonal, space, time_like)), 1e-14);
  }
}

TEST_P(Clover, WrongSignAndWrongLeavesAreFarAway) {
  // What the comparison above would see had the sign of sigma F, a coefficient or the orientation of a leaf been wrong.
  const SiteMatrices ours = support::whole_term(download(term(gauge_).term()));
  EXPECT_GT(deviation(ours, reference::clover(gauge_, diagonal, -space, -time_like)), 0.1);
  EXPECT_GT(deviation(ours, reference::clover(gauge_, diagonal, time_like, space)), 0.1);
  HostGauge mirrored = gauge_;  // U -> U^* turns every leaf into its complex conjugate
  for (auto& site : mirrored.site)
    for (Matrix3& u : site)
      for (Complex64& z : u) z = std::conj(z);
  EXPECT_GT(deviation(ours, reference::clover(mirrored, diagonal, space, time_like)), 0.1);
}

TEST_P(Clover, InverseAndDeterminantBelongToIt) {
  const CloverTerm clover = term(gauge_);
  const std::vector<HostTerm> t = download(clover.term()), inverse = download(clover.inverse());
  double log_det[2] = {0, 0};
  for (std::size_t x = 0; x < t.size(); ++x) {
    const int parity = int(Lattice::parity(gauge_.lattice.coordinates(static_cast<long long>(x))));
    for (int b = 0; b < 2; ++b) {
      auto m = t[x][b];  // Gaussian elimination for the determinant
      for (int k = 0; k < 6; ++k) {
        log_det[parity] += std::log(std::abs(m[7 * k]));
        for (int i = k + 1; i < 6; ++i) {
          const Complex64 factor = m[6 * i + k] / m[7 * k];
          for (int j = k; j < 6; ++j) m[6 * i + j] -= factor * m[6 * k + j];
        }
      }
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
          Complex64 sum = 0;
          for (int k = 0; k < 6; ++k) sum += t[x][b][6 * i + k] * inverse[x][b][6 * k + j];
          EXPECT_LT(std::abs(sum - (i == j ? 1.0 : 0.0)), 1e-14);
        }
    }
  }
  EXPECT_NEAR(clover.log_det(Parity::even) / log_det[0], 1, 1e-13);
  EXPECT_NEAR(clover.log_det(Parity::odd) / log_det[1], 1, 1e-13);
}

TEST_P(Clover, IsGaugeCovariant) {
  const auto g = reference::random_gauge_transformation(gauge_.lattice, 3);
  const HostSpinor psi = reference::random_spinor(gauge_.lattice, 1);
  const SiteMatrices here = support::whole_term(download(term(gauge_).term()));
  const SiteMatrices there = support::whole_term(download(term(reference::transform(gauge_, g)).term()));
  const HostSpinor a = reference::transform(reference::multiply(here, psi), g);
  EXPECT_LT(support::compare(reference::multiply(there, reference::transform(psi, g)), a).norm, 1e-14);
}

TEST_P(Clover, StoredFormatsKeepIt) {
  const CloverTerm clover = term(gauge_);
  for (const auto& [precision, limit] : {std::pair{"double", 0.0}, {"single", 1e-6}, {"half", 1e-4}}) {
    const TermField stored = encode_term(clover.term(), find_precision(precision));
    EXPECT_LE(
        deviation(support::whole_term(download(decode_term(stored))), support::whole_term(download(clover.term()))),
        limit * 5)
        << precision;
  }
}

TEST_P(Clover, TermIsAppliedInEveryBasis) {
  const SiteMatrices inverse = support::whole_term(download(term(gauge_).inverse()));
  const HostSpinor psi = reference::random_spinor(gauge_.lattice, 2);
  WilsonParameters p;
  p.mass = diagonal - 4;
  p.csw_r = space;
  p.csw_t = time_like;
  const auto domain = std::make_shared<Domain>(gauge_.lattice, GetParam());
  const auto links = std::make_shared<LinkField>(upload(gauge_, domain, find_precision("double"), find_storage("r18")));
  for (const char* name : {"degrand_rossi", "non_relativistic"}) {
    if (!support::built("double", "r18", "wilson", name)) continue;
    const WilsonHopping hopping(links, find_precision("double"), find_basis(name), p, links.get());
    SpinorField x(domain, find_precision("double"), Subset::full), y = x.like();
    upload(psi, x, hopping.basis());
    for (const Parity parity : {Parity::even, Parity::odd}) hopping.apply_inverse_term(y, 0.7, x, parity);
    HostSpinor result(gauge_.lattice);
    download(y, result, hopping.basis());
    EXPECT_LT(support::compare(result, reference::combine(0.7, reference::multiply(inverse, psi), 0, psi)).norm, 1e-14);
  }
}

/// As of the columns of T^-1 with those of 1, whose source is derived from the action.
TEST_P(Clover, DeterminantHasTheSourceOfAllColumns) {
  const auto domain = std::make_shared<Domain>(gauge_.lattice, GetParam());
  const LinkField links = upload(gauge_, domain, find_precision("double"), find_storage("r18"));
  const CloverTerm clover(links, space, time_like, diagonal, find_precision("double"));
  const SiteMatrices inverse = support::whole_term(download(clover.inverse()));
  const auto begun = [&] { return upload(gauge_, domain, find_precision("double"), find_storage("r18")); };
  const LinkField magnetic = begun(), electric = begun(), expected_magnetic = begun(), expected_electric = begun();
  const BasisInfo& basis = find_basis("non_relativistic");
  SpinorField psi(domain, find_precision("double"), Subset::full, 12), chi = psi.like();
  for (int n = 0; n < 12; ++n) {
    HostSpinor one(gauge_.lattice);
    for (HostSite& site : one.site) site[n] = 1;
    upload(one, chi, basis, n);
    upload(reference::multiply(inverse, one), psi, basis, n);
  }
  constexpr double weight = 0.7, xi0 = 1.3, csw_r = 0.6, csw_t = 1.1;
  evaluate(
      "source_clover",
      {psi, chi, expected_magnetic, expected_electric, weight, xi0, csw_r, csw_t, expected_magnetic, expected_electric},
      {{1, 1, 1, 1}, "non_relativistic"});
  Device& device = *GetParam();
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Arguments a = arguments_for(*domain, clover.inverse().lanes());
    a.parity = int(parity);
    a.term = clover.inverse().operand();
    a.out = magnetic.operand();
    a.w = electric.operand();
    a.a.re = weight / 2 * csw_r / xi0;
    a.b.re = weight / 2 * csw_t;
    device.run(find(device.kernels(), {.operation = "source_log_det", .precision = "double"}), a);
  }
  EXPECT_LT(support::largest_difference(download(magnetic), download(expected_magnetic)), 1e-14);
  EXPECT_LT(support::largest_difference(download(electric), download(expected_electric)), 1e-14);
  EXPECT_GT(support::largest_difference(download(magnetic), gauge_), 0.01);
}

class TermProduct : public testing::TestWithParam<support::KernelCase> {};

TEST_P(TermProduct, AgreesWithDenseBlocks) {
  const Kernel& kernel = *GetParam().kernel;
  const PrecisionInfo& precision = find_precision(kernel.precision);
  const BasisInfo& basis = find_basis(kernel.basis);
  for (const Coordinates& extent : {Coordinates{4, 4, 4, 8}, Coordinates{6, 2, 2, 10}}) {
    const Lattice lattice(extent);
    const auto domain = std::make_shared<Domain>(lattice, GetParam().device);
    const support::TestTerm term(kernel, weak_gauge(lattice, 0.6, 4), domain);
    SpinorField x(domain, precision, Subset::full, 2 * kernel.tile), out = x.like();
    for (int r = 0; r < x.rhs(); ++r) upload(reference::random_spinor(lattice, 2 + r), x, basis, r);
    out.fill(0xff);
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments a = arguments_for(*domain, x.lanes(), x.rhs());
      a.parity = int(parity);
      a.out = out.operand(parity);
      a.x = x.operand(parity);
      a.b.re = 0.7;
      term.set(a);
      GetParam().device->run(kernel, a);
    }
    for (int r = 0; r < x.rhs(); r += term.flavours()) {
      std::vector<HostSpinor> stored(term.flavours(), HostSpinor(lattice));
      for (int f = 0; f < term.flavours(); ++f) download(x, stored[f], basis, r + f);
      const std::vector<HostSpinor> expected = term.multiply(stored);
      for (int f = 0; f < term.flavours(); ++f) {
        HostSpinor result(lattice);
        download(out, result, basis, r + f);
        const support::Deviation limit = support::tolerance(kernel.precision, ""),
                                 d = support::compare(result, reference::combine(0.7, expected[f], 0, result));
        EXPECT_LE(d.norm, limit.norm) << lattice.text() << " right-hand side " << r + f;
        EXPECT_LE(d.largest, limit.largest) << lattice.text() << " right-hand side " << r + f;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, TermProduct, testing::ValuesIn(support::kernel_cases([](const Kernel& k) {
                           return k.operation.starts_with("apply_");
                         })),
                         support::kernel_case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TermProduct);
INSTANTIATE_TEST_SUITE_P(Devices, Clover, testing::ValuesIn(support::devices()),
                         [](const auto& info) { return support::test_name(info.param->name()); });

}  // namespace
