#include "solvers/hmc/noise.hpp"

#include <cmath>
#include <numbers>

#include "runtime/fields/gauge.hpp"
#include "runtime/fields/site_random.hpp"

namespace quarksmith {
namespace {

// Streams of a trajectory.
constexpr int momenta_stream = 0, decision_stream = 1, first_monomial = 2;

/// i sum_a p_a lambda_a / 2 with the Gell-Mann matrices.
Matrix3 algebra_element(const std::array<double, 8>& p) {
  const Complex64 i(0, 0.5);
  const double d = p[7] / std::numbers::sqrt3;
  return {i * (p[2] + d), i * Complex64(p[0], -p[1]), i * Complex64(p[3], -p[4]), i * Complex64(p[0], p[1]),
          i * (d - p[2]), i * Complex64(p[5], -p[6]), i * Complex64(p[3], p[4]),  i * Complex64(p[5], p[6]),
          i * (-2 * d)};
}

}  // namespace

void GaussianNoise::momenta(LinkField& p) {
  const Lattice& lattice = p.domain().lattice();
  upload_each(p, [&](long long x, std::array<Matrix3, directions>& site) {
    Random random = random_at(lattice, x, {seed_, stream(momenta_stream)});
    for (Matrix3& matrix : site) {
      std::array<double, 8> components;
      for (double& c : components) c = gaussian(random);
      matrix = algebra_element(components);
    }
  });
}

void GaussianNoise::pseudofermion(const std::string&, int number, SpinorField& eta, const BasisInfo& basis) {
  const Lattice& lattice = eta.domain().lattice();
  SpinorField slices = eta.by_slice();
  std::vector<HostSpinor> drawn(static_cast<std::size_t>(slices.rhs()), HostSpinor(lattice));
#pragma omp parallel for schedule(static)
  for (long long x = 0; x < lattice.sites(); ++x) {
    Random random = random_at(lattice, x, {seed_, stream(first_monomial + number)});
    for (HostSpinor& spinor : drawn)
      for (int n = 0; n < 3 * eta.spins(); ++n) {
        const double re = gaussian(random) * std::numbers::sqrt2 / 2;
        spinor.site[x][n] = {re, gaussian(random) * std::numbers::sqrt2 / 2};
      }
  }
  for (int n = 0; n < slices.rhs(); ++n) upload(drawn[n], slices, basis, n);
}

double GaussianNoise::uniform() const { return Random({seed_, stream(decision_stream)}, 0).uniform(); }

}  // namespace quarksmith
