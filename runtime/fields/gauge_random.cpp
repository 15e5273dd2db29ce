// Gauge fields that are drawn.
#include <cmath>
#include <numbers>

#include "runtime/fields/gauge.hpp"
#include "runtime/fields/site_random.hpp"

namespace quarksmith {

HostGauge unit_gauge(const Lattice& lattice) {
  HostGauge gauge(lattice);
  for (auto& site : gauge.site)
    for (Matrix3& u : site) u = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  return gauge;
}

namespace {

/// sum_a c_a lambda_a with the Gell-Mann matrices.
Matrix3 gell_mann_sum(const std::array<double, 8>& c) {
  const double d = c[7] / std::numbers::sqrt3;
  return {Complex64(c[2] + d, 0), Complex64(c[0], -c[1]), Complex64(c[3], -c[4]),
          Complex64(c[0], c[1]),  Complex64(d - c[2], 0), Complex64(c[5], -c[6]),
          Complex64(c[3], c[4]),  Complex64(c[5], c[6]),  Complex64(-2 * d, 0)};
}

/// exp(i h) by scaling and squaring of its Taylor series.
Matrix3 exp_i(Matrix3 h) {
  double size = 0;
  for (const Complex64& z : h) size = std::max(size, std::abs(z));
  int halvings = 0;
  while (size > 0.125) size /= 2, ++halvings;
  const Complex64 factor = Complex64(0, std::ldexp(1.0, -halvings));
  for (Complex64& z : h) z *= factor;
  Matrix3 sum = {1, 0, 0, 0, 1, 0, 0, 0, 1}, term = sum;
  for (int k = 1; k <= 14; ++k) {
    term = multiply(term, h);
    for (Complex64& z : term) z /= k;
    for (int n = 0; n < 9; ++n) sum[n] += term[n];
  }
  for (int k = 0; k < halvings; ++k) sum = multiply(sum, sum);
  return sum;
}

template <class Draw>
HostGauge drawn_gauge(const Lattice& lattice, std::uint64_t seed, const Draw& draw) {
  HostGauge gauge(lattice);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    Random random = random_at(lattice, i, {seed, ~0ull});
    for (Matrix3& u : gauge.site[i]) u = draw(random);
  }
  return gauge;
}

}  // namespace

HostGauge weak_gauge(const Lattice& lattice, double epsilon, std::uint64_t seed) {
  return drawn_gauge(lattice, seed, [epsilon](Random& random) {
    std::array<double, 8> c;
    for (double& x : c) x = epsilon * gaussian(random);
    return exp_i(gell_mann_sum(c));
  });
}

HostGauge hot_gauge(const Lattice& lattice, std::uint64_t seed) {
  return drawn_gauge(lattice, seed, [](Random& random) {
    Matrix3 u;
    for (Complex64& z : u) {
      const double re = gaussian(random);
      z = {re, gaussian(random)};
    }
    u = orthonormal(u);
    return u;
  });
}

HostGauge peer_random_gauge(const Lattice& lattice, std::uint64_t seed) {
  return drawn_gauge(lattice, seed, [](Random& random) {
    Matrix3 u;
    for (int n = 0; n < 6; ++n) {
      const double re = random.uniform();
      u[n] = {re, random.uniform()};
    }
    u = orthonormal(u);
    return Matrix3{u[6], u[7], u[8], u[0], u[1], u[2], u[3], u[4], u[5]};  // a cyclic change of rows
  });
}

}  // namespace quarksmith
