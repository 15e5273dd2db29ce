#include "tests/reference/hypercube.hpp"

namespace reference {
namespace {

using Links = std::vector<Matrix3>;

long long moved(const Lattice& lattice, long long site, const Coordinates& step) {
  for (int mu = 0; mu < 4; ++mu)
    if (step[mu] != 0) site = lattice.neighbour(site, mu, step[mu]);
  return site;
}

/// The sum over all orders of the steps: a last step, then all orders of the others.
Links all_paths(const HostGauge& gauge, const Coordinates& step) {
  Links sum(gauge.site.size());
  if (step == Coordinates{}) {
    for (Matrix3& one : sum) one = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    return sum;
  }
  for (Matrix3& zero : sum) zero.fill(0);
  for (int mu = 0; mu < 4; ++mu) {
    if (step[mu] == 0) continue;
    Coordinates rest = step;
    rest[mu] = 0;
    const Links beyond = all_paths(gauge, rest);
    for (std::size_t x = 0; x < sum.size(); ++x) {
      const long long there = gauge.lattice.neighbour(static_cast<long long>(x), mu, step[mu]);
      const Matrix3 link = path(gauge, static_cast<long long>(x), {step[mu] * (mu + 1)});
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          for (int k = 0; k < 3; ++k) sum[x][3 * i + j] += link[3 * i + k] * beyond[std::size_t(there)][3 * k + j];
    }
  }
  return sum;
}

/// sum += a b, of finite numbers.
void add(Complex64& sum, const Complex64& a, const Complex64& b) {
  sum += Complex64(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}

int far(const Coordinates& step) {
  return step[0] * step[0] + step[1] * step[1] + step[2] * step[2] + step[3] * step[3];
}

}  // namespace

Hypercube::Hypercube(const HostGauge& gauge, const std::map<Coordinates, SpinMatrix>& hops) {
  constexpr double orders[] = {1, 1, 2, 6, 24};
  for (const auto& [step, spins] : hops) {
    Hop& hop = hops_.emplace_back(Hop{step, spins, {}, all_paths(gauge, step)});
    for (Matrix3& link : hop.links)
      for (Complex64& z : link) z /= orders[far(step)];
    for (long long x = 0; x < gauge.lattice.sites(); ++x) hop.from.push_back(moved(gauge.lattice, x, step));
  }
}

HostSpinor Hypercube::operator()(const HostSpinor& psi) const {
  HostSpinor out(psi.lattice);
#pragma omp parallel for
  for (std::size_t x = 0; x < psi.site.size(); ++x)
    for (const Hop& hop : hops_) {
      const HostSite& there = psi.site[std::size_t(hop.from[x])];
      HostSite turned{};
      for (int s = 0; s < 4; ++s)
        for (int t = 0; t < 4; ++t)
          if (hop.spins[s][t] != 0.0)
            for (int c = 0; c < 3; ++c) add(turned[3 * s + c], hop.spins[s][t], there[3 * t + c]);
      for (int s = 0; s < 4; ++s)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) add(out.site[x][3 * s + i], hop.links[x][3 * i + j], turned[3 * s + j]);
    }
  return out;
}

std::map<Coordinates, SpinMatrix> brillouin_hops(double mass) {
  constexpr double gradient[] = {0, 64 / 432.0, 16 / 432.0, 4 / 432.0, 1 / 432.0};
  constexpr double laplacian[] = {-240 / 64.0, 8 / 64.0, 4 / 64.0, 2 / 64.0, 1 / 64.0};
  std::map<Coordinates, SpinMatrix> hops;
  for (int n = 0; n < 81; ++n) {
    const Coordinates step = {n % 3 - 1, n / 3 % 3 - 1, n / 9 % 3 - 1, n / 27 - 1};
    SpinMatrix spins = Complex64(-laplacian[far(step)] / 2 + (n == 40 ? mass : 0)) * identity();
    for (int mu = 0; mu < 4; ++mu) spins = spins + Complex64(gradient[far(step)] * step[mu]) * gamma(mu);
    hops[step] = spins;
  }
  return hops;
}

}  // namespace reference
