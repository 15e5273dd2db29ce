// Noise of fields against numbers drawn one by one on the host.
#include <cmath>
#include <numbers>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/site_random.hpp"
#include "tests/support.hpp"

namespace {

using namespace quarksmith;

class NoiseOfFields : public support::OnDevice {
 protected:
  DomainPointer domain() const { return std::make_shared<const Domain>(lattice_, GetParam()); }

  Lattice lattice_{{6, 4, 2, 10}};  // fewer boxes than a processor has lanes
  RandomState state_{42, 7};
};

double normal(Random& random) {
  const double u = random.uniform(), v = random.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

/// sum_a p_a lambda_a from the table of M. Gell-Mann, Phys. Rev. 125 (1962) 1067.
Matrix3 gell_mann(const std::array<double, 8>& p) {
  const Complex64 i(0, 1);
  Matrix3 m{};
  const std::array<std::array<int, 2>, 3> off = {{{0, 1}, {0, 2}, {1, 2}}};
  const std::array<int, 3> real = {0, 3, 5};
  for (int n = 0; n < 3; ++n) {
    const auto [r, c] = off[n];
    m[3 * r + c] = p[real[n]] - i * p[real[n] + 1];
    m[3 * c + r] = p[real[n]] + i * p[real[n] + 1];
  }
  const double eighth = p[7] / std::sqrt(3.0);
  m[0] = p[2] + eighth, m[4] = eighth - p[2], m[8] = -2 * eighth;
  return m;
}

TEST_P(NoiseOfFields, MomentaAreElementsOfTheAlgebra) {
  LinkField p(domain(), find_precision("double"), algebra_storage(3));
  draw_momenta(p, state_);
  const HostGauge found = download(p);
  double sum = 0;
  for (long long x = 0; x < lattice_.sites(); ++x) {
    Random random(state_, static_cast<unsigned>(lattice_.global_index(x)));
    for (int mu = 0; mu < directions; ++mu) {
      std::array<double, 8> numbers;
      for (double& n : numbers) n = normal(random), sum += n * n;
      const Matrix3 expected = gell_mann(numbers);
      for (int n = 0; n < 9; ++n)
        EXPECT_NEAR(std::abs(found.site[x][mu][n] - Complex64(0, 0.5) * expected[n]), 0, 1e-14) << x << " " << mu;
    }
  }
  EXPECT_NEAR(sum / (8.0 * directions * double(lattice_.sites())), 1, 0.05);
}

TEST_P(NoiseOfFields, SpinorsHaveTheNumbersOfTheirSites) {
  const BasisInfo& basis = find_basis("non_relativistic");
  for (const int spins : {4, 1})
    for (const Subset subset : {Subset::full, Subset::even, Subset::odd}) {
      constexpr int rhs = 3;
      SpinorField eta(domain(), find_precision("double"), subset, rhs, spins);
      draw_noise(eta, state_, basis);
      std::vector<HostSpinor> found(rhs, HostSpinor(lattice_));
      for (int n = 0; n < rhs; ++n) download(eta, found[n], basis, n);
      for (long long x = 0; x < lattice_.sites(); ++x) {
        const bool even = Lattice::parity(lattice_.coordinates(x)) == Parity::even;
        const bool held = subset == Subset::full || (subset == Subset::even) == even;
        Random random(state_, static_cast<unsigned>(lattice_.global_index(x)));
        for (int n = 0; n < rhs; ++n)
          for (int k = 0; k < 3 * spins; ++k) {
            const double re = normal(random) / std::numbers::sqrt2, im = normal(random) / std::numbers::sqrt2;
            EXPECT_NEAR(std::abs(found[n].site[x][k] - (held ? Complex64(re, im) : 0)), 0, 1e-14) << x << " " << k;
          }
      }
    }
}

TEST_P(NoiseOfFields, IsDouble) {
  LinkField p(domain(), find_precision("single"), algebra_storage(3));
  SpinorField eta(domain(), find_precision("half"), Subset::full);
  EXPECT_THROW(draw_momenta(p, state_), UsageError);
  EXPECT_THROW(draw_noise(eta, state_, find_basis("non_relativistic")), UsageError);
}

ON_EACH_DEVICE(NoiseOfFields);

}  // namespace
