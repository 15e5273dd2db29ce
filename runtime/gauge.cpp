#include "runtime/gauge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/error.hpp"
#include "runtime/random.hpp"

namespace quarksmith {
namespace {

/// Deviation of links that still count as SU(3).
constexpr double su3_limit = 1e-5;

}  // namespace

Matrix3 multiply(const Matrix3& a, const Matrix3& b) {
  Matrix3 c{};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < 3; ++j) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return c;
}

Matrix3 adjoint(const Matrix3& a) {
  Matrix3 c;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c[3 * i + j] = std::conj(a[3 * j + i]);
  return c;
}

Complex64 determinant(const Matrix3& a) {
  return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

Unitarity check_unitarity(const HostGauge& gauge) {
  Unitarity worst;
  for (long long i = 0; i < gauge.lattice.sites(); ++i) {
    for (int mu = 0; mu < directions; ++mu) {
      const Matrix3& u = gauge.site[i][mu];
      const Matrix3 product = multiply(u, adjoint(u));
      const double det = std::abs(determinant(u) - 1.0);
      double off = 0;
      for (int n = 0; n < 9; ++n) off = std::max(off, std::abs(product[n] - (n % 4 == 0 ? 1.0 : 0.0)));
      if (!std::isfinite(off + det)) {
        const Coordinates x = gauge.lattice.coordinates(i);
        throw BadData(
            fmt::format("link {} of site ({},{},{},{}) is not finite; the configuration is damaged, read it again "
                        "from its source",
                        "xyzt"[mu], x[0], x[1], x[2], x[3]));
      }
      worst.unitary = std::max(worst.unitary, off);
      worst.determinant = std::max(worst.determinant, det);
    }
  }
  return worst;
}

bool is_su3(const Unitarity& u) { return std::max(u.unitary, u.determinant) <= su3_limit; }

void require_su3(const HostGauge& gauge, std::string_view what) {
  const Unitarity u = check_unitarity(gauge);
  if (!is_su3(u))
    throw NotSU3(
        fmt::format("{} needs SU(3) links, but these deviate by {:.1e} from unitarity and {:.1e} from "
                    "determinant 1 (limit {:.0e}); use 18 reals",
                    what, u.unitary, u.determinant, su3_limit));
}

std::string_view default_links(const HostGauge& gauge) { return is_su3(check_unitarity(gauge)) ? "r12" : "r18"; }

TemporalGauge fix_temporal_gauge(const HostGauge& gauge) {
  const Lattice& lattice = gauge.lattice;
  const long long space = lattice.space_sites();
  const Matrix3 unit = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  TemporalGauge fixed{gauge, std::vector<Matrix3>(gauge.site.size(), unit)};
  auto& g = fixed.transformation;
  for (long long i = space; i < lattice.sites(); ++i) g[i] = multiply(g[i - space], gauge.site[i - space][3]);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i)
    for (int mu = 0; mu < directions; ++mu)
      fixed.gauge.site[i][mu] =
          mu == 3 && i + space < lattice.sites()
              ? unit
              : multiply(multiply(g[i], gauge.site[i][mu]), adjoint(g[lattice.neighbour(i, mu, 1)]));
  return fixed;
}

void require_temporal_gauge(const HostGauge& gauge) {
  const Matrix3 unit = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (long long i = 0; i + gauge.lattice.space_sites() < gauge.lattice.sites(); ++i)
    if (gauge.site[i][3] != unit)
      throw UsageError(
          "links are stored for temporal gauge, but a time link before the last slice is not 1; fix the gauge");
}

bool fold_boundary_phases(HostGauge& gauge) {
  const Lattice& lattice = gauge.lattice;
  bool moved = false;
  for (int mu = 0; mu < directions; ++mu) {
    Complex64 shared = 0;
    bool all = true;
    for (long long i = 0; i < lattice.sites() && all; ++i) {
      if (lattice.coordinates(i)[mu] != lattice.extent(mu) - 1) continue;
      const Complex64 det = determinant(gauge.site[i][mu]);
      if (shared == 0.0) shared = det;
      all = std::abs(det - shared) < 1e-5;
    }
    if (!all || std::abs(std::abs(shared) - 1) > 1e-5 || std::abs(shared - 1.0) < 1e-5) continue;
    // Any cube root gives the same operator; for a determinant of -1 the sign is what was folded in.
    const Complex64 root = std::abs(shared + 1.0) < 1e-5 ? Complex64(-1) : std::polar(1.0, std::arg(shared) / 3);
    for (long long i = 0; i < lattice.sites(); ++i) {
      if (lattice.coordinates(i)[mu] != lattice.extent(mu) - 1) continue;
      for (Complex64& z : gauge.site[i][mu]) z *= std::conj(root);
    }
    gauge.phase[mu] *= root;
    moved = true;
  }
  return moved;
}

GaugeAverages gauge_averages(const LinkField& links) {
  Device& device = links.domain().device();
  const Kernel& kernel = find(
      device.kernels(), {.operation = "plaquette", .precision = links.precision().name, .links = links.storage().name});
  double space = 0, time = 0, trace = 0;
  for (int parity = 0; parity < 2; ++parity) {
    Arguments a = arguments_for(links.domain(), links.lanes());
    a.parity = parity;
    a.links = links.operand();
    const std::vector<double> sums = device.reduce(kernel, a);
    space += sums[0];
    time += sums[1];
    trace += sums[2];
  }
  const double sites = static_cast<double>(links.domain().lattice().sites());
  GaugeAverages result;
  result.space_plaquette = space / (9 * sites);
  result.time_plaquette = time / (9 * sites);
  result.plaquette = (result.space_plaquette + result.time_plaquette) / 2;
  result.link_trace = trace / (12 * sites);
  return result;
}

GaugeAverages gauge_averages(const HostGauge& gauge, const DomainPointer& domain) {
  return gauge_averages(upload(gauge, domain, find_precision("double"), find_storage("r18")));
}

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

/// Rows made orthonormal, the third the conjugate cross product of the others.
void gram_schmidt(Matrix3& u) {
  const auto normalise = [&](int row) {
    double norm = 0;
    for (int j = 0; j < 3; ++j) norm += std::norm(u[3 * row + j]);
    for (int j = 0; j < 3; ++j) u[3 * row + j] /= std::sqrt(norm);
  };
  normalise(0);
  Complex64 overlap = 0;
  for (int j = 0; j < 3; ++j) overlap += std::conj(u[j]) * u[3 + j];
  for (int j = 0; j < 3; ++j) u[3 + j] -= overlap * u[j];
  normalise(1);
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;
    u[6 + j] = std::conj(u[k] * u[3 + l] - u[l] * u[3 + k]);
  }
}

template <class Draw>
HostGauge drawn_gauge(const Lattice& lattice, std::uint64_t seed, const Draw& draw) {
  HostGauge gauge(lattice);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    Random random({seed, ~0ull}, static_cast<unsigned>(i));
    for (Matrix3& u : gauge.site[i]) u = draw(random);
  }
  return gauge;
}

}  // namespace

double gaussian(Random& random) {
  const double radius = std::sqrt(-2 * std::log(random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

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
    gram_schmidt(u);
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
    gram_schmidt(u);
    return Matrix3{u[6], u[7], u[8], u[0], u[1], u[2], u[3], u[4], u[5]};  // a cyclic change of rows
  });
}

}  // namespace quarksmith
