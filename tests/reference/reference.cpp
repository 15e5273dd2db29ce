#include "tests/reference/reference.hpp"

#include <cmath>
#include <map>
#include <random>

#include "runtime/fields/gauge.hpp"

namespace reference {
namespace {

constexpr Complex64 i{0, 1};

Matrix3 dagger(const Matrix3& u) {
  Matrix3 v;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) v[3 * r + c] = std::conj(u[3 * c + r]);
  return v;
}

Matrix3 product(const Matrix3& u, const Matrix3& v) {
  Matrix3 w{};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < 3; ++k) w[3 * r + c] += u[3 * r + k] * v[3 * k + c];
  return w;
}

/// out += c M (U psi) for one site.
void add_hop(HostSite& out, Complex64 c, const SpinMatrix& m, const Matrix3& u, const HostSite& psi) {
  HostSite v{};
  for (int s = 0; s < 4; ++s)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) v[3 * s + a] += u[3 * a + b] * psi[3 * s + b];
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s)
      for (int a = 0; a < 3; ++a) out[3 * r + a] += c * m[r][s] * v[3 * s + a];
}

}  // namespace

SpinMatrix operator*(const SpinMatrix& a, const SpinMatrix& b) {
  SpinMatrix c{};
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s)
      for (int k = 0; k < 4; ++k) c[r][s] += a[r][k] * b[k][s];
  return c;
}

SpinMatrix operator+(const SpinMatrix& a, const SpinMatrix& b) {
  SpinMatrix c = a;
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) c[r][s] += b[r][s];
  return c;
}

SpinMatrix operator*(Complex64 x, const SpinMatrix& a) {
  SpinMatrix c = a;
  for (auto& row : c)
    for (Complex64& z : row) z *= x;
  return c;
}

SpinMatrix adjoint(const SpinMatrix& a) {
  SpinMatrix c;
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) c[r][s] = std::conj(a[s][r]);
  return c;
}

SpinMatrix identity() {
  SpinMatrix c{};
  for (int r = 0; r < 4; ++r) c[r][r] = 1;
  return c;
}

SpinMatrix gamma(int mu) {
  switch (mu) {
    case 0:
      return {{{0, 0, 0, i}, {0, 0, i, 0}, {0, -i, 0, 0}, {-i, 0, 0, 0}}};
    case 1:
      return {{{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}}};
    case 2:
      return {{{0, 0, i, 0}, {0, 0, 0, -i}, {-i, 0, 0, 0}, {0, i, 0, 0}}};
    default:
      return {{{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}}};
  }
}

SpinMatrix gamma5() { return gamma(0) * gamma(1) * gamma(2) * gamma(3); }

HopMatrices wilson_hops(bool dagger) {
  HopMatrices hops;
  const Complex64 sign = dagger ? 1 : -1;
  for (int mu = 0; mu < 4; ++mu) {
    hops[mu][0] = identity() + sign * gamma(mu);
    hops[mu][1] = identity() + (-sign) * gamma(mu);
  }
  return hops;
}

HostSpinor hopping(const HostGauge& gauge, const HostSpinor& psi, const HopMatrices& hops, const Coefficients& c,
                   const PhaseMasks& masks, int length) {
  const Lattice& lattice = gauge.lattice;
  HostSpinor out(lattice);
  for (long long x = 0; x < lattice.sites(); ++x) {
    const Coordinates at = lattice.coordinates(x);
    for (int mu = 0; mu < 4; ++mu) {
      const long long up = lattice.neighbour(x, mu, length), down = lattice.neighbour(x, mu, -length);
      int coordinates = 0;
      for (int nu = 0; nu < 4; ++nu) coordinates += (masks[mu] >> nu & 1) * at[nu];
      const double sign = coordinates % 2 == 0 ? 1 : -1;
      const Complex64 here = sign * c.bulk[mu] * (at[mu] + length >= lattice.extent(mu) ? c.phase[mu] : 1.0);
      const Complex64 below = sign * c.bulk[mu] * (at[mu] < length ? c.phase[mu] : 1.0);
      add_hop(out.site[x], here, hops[mu][0], gauge.site[x][mu], psi.site[up]);
      add_hop(out.site[x], std::conj(below), hops[mu][1], dagger(gauge.site[down][mu]), psi.site[down]);
    }
  }
  return out;
}

HostSpinor wilson(const HostGauge& gauge, const HostSpinor& psi, double mass, bool dagger) {
  Coefficients c;
  c.phase = {1, 1, 1, -1};
  return combine(mass + 4, psi, -0.5, hopping(gauge, psi, wilson_hops(dagger), c));
}

HostSpinor multiply(const SiteMatrices& t, const HostSpinor& psi) {
  HostSpinor out(psi.lattice);
  for (std::size_t x = 0; x < t.size(); ++x)
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 12; ++j) out.site[x][i] += t[x][12 * i + j] * psi.site[x][j];
  return out;
}

SiteMatrices clover(const HostGauge& gauge, double diagonal, double space, double time) {
  const Lattice& lattice = gauge.lattice;
  SiteMatrices terms(static_cast<std::size_t>(lattice.sites()));
  for (long long x = 0; x < lattice.sites(); ++x) {
    for (int i = 0; i < 12; ++i) terms[x][13 * i] = diagonal;
    for (int mu = 1; mu <= 4; ++mu)
      for (int nu = 1; nu <= 4; ++nu) {
        if (mu == nu) continue;
        Matrix3 q{};
        for (const std::vector<int>& leaf :
             {std::vector<int>{mu, nu, -mu, -nu}, {nu, -mu, -nu, mu}, {-mu, -nu, mu, nu}, {-nu, mu, nu, -mu}}) {
          const Matrix3 p = path(gauge, x, leaf);
          for (int n = 0; n < 9; ++n) q[n] += p[n];
        }
        const Matrix3 qd = dagger(q);
        const SpinMatrix g1 = gamma(mu - 1) * gamma(nu - 1), g2 = gamma(nu - 1) * gamma(mu - 1);
        const double c = mu == 4 || nu == 4 ? time : space;
        for (int r = 0; r < 4; ++r)
          for (int s = 0; s < 4; ++s) {
            const Complex64 sigma = Complex64(0, 0.5) * (g1[r][s] - g2[r][s]);
            for (int a = 0; a < 3; ++a)
              for (int b = 0; b < 3; ++b)
                terms[x][12 * (3 * r + a) + 3 * s + b] +=
                    c * Complex64(0, 0.25) * sigma * (q[3 * a + b] - qd[3 * a + b]) / 8.0;
          }
      }
  }
  return terms;
}

HostSpinor combine(Complex64 a, const HostSpinor& x, Complex64 b, const HostSpinor& y) {
  HostSpinor out(x.lattice);
  for (std::size_t n = 0; n < x.site.size(); ++n)
    for (int k = 0; k < 12; ++k) out.site[n][k] = a * x.site[n][k] + b * y.site[n][k];
  return out;
}

Complex64 dot(const HostSpinor& x, const HostSpinor& y) {
  Complex64 sum = 0;
  for (std::size_t n = 0; n < x.site.size(); ++n)
    for (int k = 0; k < 12; ++k) sum += std::conj(x.site[n][k]) * y.site[n][k];
  return sum;
}

double norm(const HostSpinor& x) { return std::sqrt(dot(x, x).real()); }

double residual(const HostSpinor& b, const HostSpinor& ax) { return norm(combine(1, b, -1, ax)) / norm(b); }

HostSpinor multiply(const SpinMatrix& m, const HostSpinor& psi) {
  HostSpinor out(psi.lattice);
  for (std::size_t n = 0; n < psi.site.size(); ++n)
    for (int r = 0; r < 4; ++r)
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c) out.site[n][3 * r + c] += m[r][s] * psi.site[n][3 * s + c];
  return out;
}

Matrix3 path(const HostGauge& gauge, long long x, const std::vector<int>& steps) {
  Matrix3 u = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (const int step : steps) {
    const int mu = std::abs(step) - 1;
    if (step > 0) {
      u = product(u, gauge.site[x][mu]);
      x = gauge.lattice.neighbour(x, mu, 1);
    } else {
      x = gauge.lattice.neighbour(x, mu, -1);
      u = product(u, dagger(gauge.site[x][mu]));
    }
  }
  return u;
}

HostSpinor random_spinor(const Lattice& lattice, unsigned seed) {
  struct Drawn {
    std::mt19937_64 engine;
    std::normal_distribution<double> normal;
    std::vector<Complex64> numbers;
  };
  static std::map<unsigned, Drawn> of_seed;  // drawing them takes longer than most kernels on them
  Drawn& d = of_seed.try_emplace(seed, Drawn{std::mt19937_64(seed), {}, {}}).first->second;
  HostSpinor psi(lattice);
  std::size_t n = 0;
  for (HostSite& site : psi.site)
    for (Complex64& z : site) {
      if (n == d.numbers.size()) {
        const double re = d.normal(d.engine);
        d.numbers.emplace_back(re, d.normal(d.engine));
      }
      z = d.numbers[n++];
    }
  return psi;
}

std::vector<Matrix3> random_gauge_transformation(const Lattice& lattice, unsigned seed) {
  const HostGauge links = quarksmith::hot_gauge(lattice, seed);
  std::vector<Matrix3> g;
  for (const auto& site : links.site) g.push_back(site[0]);
  return g;
}

HostGauge transform(const HostGauge& gauge, const std::vector<Matrix3>& g) {
  HostGauge out(gauge.lattice);
  for (long long x = 0; x < gauge.lattice.sites(); ++x)
    for (int mu = 0; mu < 4; ++mu)
      out.site[x][mu] = product(product(g[x], gauge.site[x][mu]), dagger(g[gauge.lattice.neighbour(x, mu, 1)]));
  return out;
}

HostSpinor transform(const HostSpinor& psi, const std::vector<Matrix3>& g) {
  HostSpinor out(psi.lattice);
  for (std::size_t x = 0; x < g.size(); ++x)
    for (int s = 0; s < 4; ++s)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) out.site[x][3 * s + a] += g[x][3 * a + b] * psi.site[x][3 * s + b];
  return out;
}

}  // namespace reference
