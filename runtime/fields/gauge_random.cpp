// Gauge fields that are drawn.
#include <algorithm>
#include <cmath>

#include "runtime/fields/gauge.hpp"
#include "runtime/fields/site_random.hpp"

namespace quarksmith {

HostGauge unit_gauge(const Lattice& lattice, int colours) {
  HostGauge gauge(lattice, colours);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i)
    for (int mu = 0; mu < directions; ++mu)
      for (int c = 0; c < colours; ++c) gauge.link(i, mu)[c * (colours + 1)] = 1;
  return gauge;
}

namespace {

/// exp(i h) by scaling and squaring of its Taylor series.
std::vector<Complex64> exp_i(std::vector<Complex64> h, int n) {
  double size = 0;
  for (const Complex64& z : h) size = std::max(size, std::abs(z));
  int halvings = 0;
  while (size > 0.375 / n) size /= 2, ++halvings;
  const Complex64 factor = Complex64(0, std::ldexp(1.0, -halvings));
  for (Complex64& z : h) z *= factor;
  std::vector<Complex64> sum(h.size(), 0), product(h.size());
  for (int c = 0; c < n; ++c) sum[c * (n + 1)] = 1;
  auto term = sum;
  for (int k = 1; k <= 14; ++k) {
    multiply(term.data(), h.data(), product.data(), n);
    for (std::size_t m = 0; m < h.size(); ++m) sum[m] += term[m] = product[m] / double(k);
  }
  for (int k = 0; k < halvings; ++k) {
    multiply(sum.data(), sum.data(), product.data(), n);
    sum = product;
  }
  return sum;
}

/// sum_a c_a lambda_a with the matrices of Gell-Mann, or their like of n colours, c_a Gaussian: in the order in which
/// momenta draw them (runtime/kernels/site_draws.hpp).
std::vector<Complex64> gell_mann_sum(Random& random, double epsilon, int n) {
  std::vector<Complex64> h(std::size_t(n * n));
  const auto draw = [&] { return epsilon * gaussian(random); };
  for (int j = 1; j < n; ++j) {
    for (int i = 0; i < j; ++i) {
      const double p = draw(), q = draw();
      h[n * i + j] = {p, -q};
      h[n * j + i] = {p, q};
    }
    const double d = draw() / std::sqrt(0.5 * j * (j + 1));
    for (int i = 0; i < j; ++i) h[i * (n + 1)] += d;
    h[j * (n + 1)] = -j * d;
  }
  return h;
}

template <class Draw>
HostGauge drawn_gauge(const Lattice& lattice, std::uint64_t seed, int colours, const Draw& draw) {
  HostGauge gauge(lattice, colours);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    Random random = random_at(lattice, i, {seed, ~0ull});
    for (int mu = 0; mu < directions; ++mu) draw(random, gauge.link(i, mu));
  }
  return gauge;
}

}  // namespace

HostGauge weak_gauge(const Lattice& lattice, double epsilon, std::uint64_t seed, int colours) {
  return drawn_gauge(lattice, seed, colours, [=](Random& random, std::span<Complex64> u) {
    std::ranges::copy(exp_i(gell_mann_sum(random, epsilon, colours), colours), u.begin());
  });
}

HostGauge hot_gauge(const Lattice& lattice, std::uint64_t seed, int colours) {
  return drawn_gauge(lattice, seed, colours, [=](Random& random, std::span<Complex64> u) {
    for (Complex64& z : u) {
      const double re = gaussian(random);
      z = {re, gaussian(random)};
    }
    orthonormalise(u.data(), colours);
  });
}

HostGauge peer_random_gauge(const Lattice& lattice, std::uint64_t seed) {
  return drawn_gauge(lattice, seed, 3, [](Random& random, std::span<Complex64> link) {
    Matrix3 u;
    for (int n = 0; n < 6; ++n) {
      const double re = random.uniform();
      u[n] = {re, random.uniform()};
    }
    u = orthonormal(u);
    std::ranges::rotate_copy(u, u.begin() + 6, link.begin());  // a cyclic change of rows
  });
}

}  // namespace quarksmith
