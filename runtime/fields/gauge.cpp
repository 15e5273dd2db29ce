#include "runtime/fields/gauge.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/lattice/face.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/lattice/partition.hpp"

namespace quarksmith {
namespace {

/// Links as matrices.
using Colours3 = Eigen::Matrix<Complex64, 3, 3, Eigen::RowMajor>;
using Colours = Eigen::Matrix<Complex64, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, most_colours, most_colours>;

/// Deviation of links that still count as SU(N).
constexpr double su3_limit = 1e-5;

/// Largest number in a link that is taken for one, fat and rescaled ones included.
constexpr double most_element = 1e10;

/// Why a link cannot be one; empty if it can. `may_vanish`: open boundary conditions are kept as time links of zero.
std::string_view flaw_of(std::span<const Complex64> u, bool may_vanish) {
  double largest = 0;
  bool finite = true;
  for (const Complex64& z : u) {
    finite = finite && std::isfinite(z.real()) && std::isfinite(z.imag());
    largest = std::max({largest, std::abs(z.real()), std::abs(z.imag())});
  }
  if (!finite) return "is not finite";
  if (largest > most_element) return "holds a number beyond 1e10";
  if (largest == 0 && !may_vanish) return "is zero";
  return {};
}

/// Whether a site lies on the last slice of the whole lattice.
bool on_last_slice(const Lattice& lattice, long long site, int mu) {
  return lattice.origin(mu) + lattice.coordinates(site)[mu] == lattice.global_extent(mu) - 1;
}

/// \throws BadData the first link of a site that cannot be one.
void tell_flaw(const HostGauge& gauge, long long site, bool may_vanish) {
  const Lattice& lattice = gauge.lattice;
  for (int mu = 0; mu < directions; ++mu) {
    const std::string_view flaw =
        flaw_of(gauge.link(site, mu), may_vanish || (mu == 3 && on_last_slice(lattice, site, mu)));
    if (flaw.empty()) continue;
    const Coordinates x = lattice.coordinates(site);
    throw BadData(fmt::format(
        "link {} of site ({},{},{},{}) {}; the configuration is damaged, read it again from its source", "xyzt"[mu],
        lattice.origin(0) + x[0], lattice.origin(1) + x[1], lattice.origin(2) + x[2], lattice.origin(3) + x[3], flaw));
  }
}

}  // namespace

void multiply(const Complex64* a, const Complex64* b, Complex64* c, int n) {
  const auto of = [=]<class M>(Eigen::Map<M> product) {
    product = Eigen::Map<const M>(a, n, n).lazyProduct(Eigen::Map<const M>(b, n, n));
  };
  n == 3 ? of(Eigen::Map<Colours3>(c)) : of(Eigen::Map<Colours>(c, n, n));
}

Complex64 determinant(const Complex64* a, int n) {
  return n == 3 ? Eigen::Map<const Colours3>(a).determinant() : Eigen::Map<const Colours>(a, n, n).determinant();
}

Matrix3 multiply(const Matrix3& a, const Matrix3& b) {
  Matrix3 c;
  multiply(a.data(), b.data(), c.data(), 3);
  return c;
}

Matrix3 adjoint(const Matrix3& a) {
  Matrix3 c;
  Eigen::Map<Colours3>(c.data()) = Eigen::Map<const Colours3>(a.data()).adjoint();
  return c;
}

Complex64 determinant(const Matrix3& a) { return determinant(a.data(), 3); }

Unitarity check_unitarity(const HostGauge& gauge, Communicator& communicator, bool may_vanish) {
  const Lattice& lattice = gauge.lattice;
  const int n = gauge.colours();
  double unitary = 0, determinants = 0;  // squared
  long long flawed = lattice.sites();
#pragma omp parallel for schedule(static) reduction(max : unitary, determinants) reduction(min : flawed)
  for (long long i = 0; i < lattice.sites(); ++i)
    for (int mu = 0; mu < directions; ++mu) {
      const auto u = gauge.link(i, mu);
      if (!flaw_of(u, may_vanish || (mu == 3 && on_last_slice(lattice, i, mu))).empty()) flawed = std::min(flawed, i);
      determinants = std::max(determinants, std::norm(determinant(u.data(), n) - 1.0));
      const auto off = [&]<class M>(const Eigen::Map<const M>& m) {
        return M(m.lazyProduct(m.adjoint()) - M::Identity(n, n)).cwiseAbs2().maxCoeff();
      };
      unitary = std::max(
          unitary, n == 3 ? off(Eigen::Map<const Colours3>(u.data())) : off(Eigen::Map<const Colours>(u.data(), n, n)));
    }
  communicator.together([&] {
    if (flawed < lattice.sites()) tell_flaw(gauge, flawed, may_vanish);
  });
  return {std::sqrt(communicator.largest(unitary)), std::sqrt(communicator.largest(determinants))};
}

bool is_su3(const Unitarity& u) { return std::max(u.unitary, u.determinant) <= su3_limit; }

Unitarity require_su3(const HostGauge& gauge, std::string_view what, Communicator& communicator,
                      std::string_view remedy) {
  const Unitarity u = check_unitarity(gauge, communicator);
  if (!is_su3(u))
    throw NotSU3(
        fmt::format("{} needs SU({}) links, but these deviate by {:.1e} from unitarity and {:.1e} from "
                    "determinant 1 (limit {:.0e}); {}",
                    what, gauge.colours(), u.unitary, u.determinant, su3_limit, remedy));
  return u;
}

void require_u3(const HostGauge& gauge, std::string_view what, Communicator& communicator) {
  const double deviation = check_unitarity(gauge, communicator).unitary;
  if (deviation > su3_limit)
    throw NotSU3(
        fmt::format("{} needs unitary links, or one real number times unitary links, but these deviate by {:.1e} from "
                    "unitarity (limit {:.0e}); use {} reals",
                    what, deviation, su3_limit, 2 * gauge.elements()));
}

void require_algebra(const HostGauge& matrices, std::string_view what, Communicator& communicator, double limit) {
  const int n = matrices.colours();
  bool flawed = false;
#pragma omp parallel for schedule(static) reduction(|| : flawed)
  for (long long i = 0; i < matrices.lattice.sites(); ++i)
    for (int mu = 0; mu < directions; ++mu) {
      const Eigen::Map<const Colours> m(matrices.link(i, mu).data(), n, n);
      const double off = (m + m.adjoint()).cwiseAbs().sum() + std::abs(m.trace());
      flawed = flawed || !std::isfinite(off) || off > limit * std::max(1.0, m.cwiseAbs().maxCoeff());
    }
  communicator.together([&] {
    if (flawed)
      throw BadData(
          fmt::format("{}: a matrix is not finite, anti-Hermitian and traceless; P = i p_a T_a is expected, "
                      "not a Hermitian one",
                      what));
  });
}

std::string_view default_links(const HostGauge& gauge, Communicator& communicator) {
  return (is_su3(check_unitarity(gauge, communicator)) ? compact_storage : full_storage)(gauge.colours()).name;
}

void orthonormalise(Complex64* g, int n) {
  if (n == 3) {  // links that were drawn before there were other colours keep their bits
    Matrix3 three;
    std::copy_n(g, 9, three.begin());
    std::ranges::copy(orthonormal(three), g);
    return;
  }
  for (int i = 0; i < n; ++i) {
    Complex64* row = g + n * i;
    for (int again = 0; again < 2; ++again)  // rows may be nearly parallel
      for (int k = 0; k < i; ++k) {
        Complex64 along = 0;
        for (int c = 0; c < n; ++c) along += std::conj(g[n * k + c]) * row[c];
        for (int c = 0; c < n; ++c) row[c] -= along * g[n * k + c];
      }
    double square = 0;
    for (int c = 0; c < n; ++c) square += std::norm(row[c]);
    for (int c = 0; c < n; ++c) row[c] /= std::sqrt(square);
  }
  const Complex64 turn = std::conj(determinant(g, n));
  for (int c = 0; c < n; ++c) g[n * (n - 1) + c] *= turn;
}

Matrix3 orthonormal(Matrix3 g) {
  const auto normalise = [&](int row) {
    double square = 0;
    for (int c = 0; c < 3; ++c) square += std::norm(g[3 * row + c]);
    for (int c = 0; c < 3; ++c) g[3 * row + c] /= std::sqrt(square);
  };
  normalise(0);
  Complex64 along = 0;
  for (int c = 0; c < 3; ++c) along += std::conj(g[c]) * g[3 + c];
  for (int c = 0; c < 3; ++c) g[3 + c] -= along * g[c];
  normalise(1);
  for (int c = 0; c < 3; ++c) {
    const int i = (c + 1) % 3, j = (c + 2) % 3;
    g[6 + c] = std::conj(g[i] * g[3 + j] - g[j] * g[3 + i]);
  }
  return g;
}

namespace {

constexpr Matrix3 unit = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/// g = 1 on the first slice of the whole lattice, then g(t+1) = g(t) U_t(t): each part goes on where the one before it
/// in time has ended. Links that leave SU(3) must not take g along: a gauge transformation is undone by g^+.
std::vector<Matrix3> temporal_transformation(const HostGauge& gauge, Communicator& communicator) {
  const Lattice& lattice = gauge.lattice;
  const long long space = lattice.space_sites();
  const std::size_t bytes = space * sizeof(Matrix3);
  std::vector<Matrix3> g(gauge.site.size(), unit);
  if (lattice.origin(3) > 0) {
    const Message before = {lattice.rank_at(3, -1), 0, g.data(), bytes};
    communicator.start({}, {&before, 1});
    communicator.finish();
  }
  for (long long i = space; i < lattice.sites(); ++i)
    g[i] = orthonormal(multiply(g[i - space], gauge.site[i - space][3]));
  if (lattice.origin(3) + lattice.extent(3) < lattice.global_extent(3)) {
    std::vector<Matrix3> next(space);
    const long long last = lattice.sites() - space;
    for (long long i = 0; i < space; ++i) next[i] = orthonormal(multiply(g[last + i], gauge.site[last + i][3]));
    const Message after = {lattice.rank_at(3, 1), 0, next.data(), bytes};
    communicator.start({&after, 1}, {});
    communicator.finish();
  }
  return g;
}

}  // namespace

TemporalGauge fix_temporal_gauge(const HostGauge& gauge, Communicator& communicator) {
  const Lattice& lattice = gauge.lattice;
  require_spread(lattice, communicator);
  TemporalGauge fixed{HostGauge(lattice), gauge, temporal_transformation(gauge, communicator)};
  const auto& g = fixed.transformation;
  for (int mu = 0; mu < directions; ++mu) {
    const auto next =
        from_neighbour(lattice, mu, 1, slice_of(lattice, mu, 0, [&](long long i) { return g[i]; }), communicator);
    const auto ahead = [&](long long i) {
      const Coordinates x = lattice.coordinates(i);
      return x[mu] + 1 == lattice.extent(mu) ? next[number_in_slice(lattice, mu, x)] : g[lattice.neighbour(i, mu, 1)];
    };
#pragma omp parallel for schedule(static)
    for (long long i = 0; i < lattice.sites(); ++i)
      fixed.rotated.site[i][mu] = multiply(multiply(g[i], gauge.site[i][mu]), adjoint(ahead(i)));
  }
  fixed.gauge = fixed.rotated;
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i)
    if (!on_last_slice(lattice, i, 3)) fixed.gauge.site[i][3] = unit;
  return fixed;
}

void require_temporal_gauge(const HostGauge& gauge, Communicator& communicator) {
  communicator.together([&] {
    for (long long i = 0; i < gauge.lattice.sites(); ++i)
      if (gauge.site[i][3] != unit && !on_last_slice(gauge.lattice, i, 3))
        throw UsageError(
            "links are stored for temporal gauge, but a time link before the last slice is not 1; fix the gauge");
  });
}

namespace {

/// The determinant that all links along mu share that cross the last slice, or all others, by that of the first; 0 if
/// they differ.
Complex64 shared_determinant(const HostGauge& gauge, int mu, bool last, Communicator& communicator) {
  struct First {
    long long number;
    double re, im;
  };
  const Lattice& lattice = gauge.lattice;
  First mine{std::numeric_limits<long long>::max(), 0, 0};
  std::vector<First> all(communicator.size());
  for (long long i = 0; i < lattice.sites(); ++i)
    if (on_last_slice(lattice, i, mu) == last) {
      const Complex64 det = determinant(gauge.link(i, mu).data(), gauge.colours());
      mine = {lattice.global_index(i), det.real(), det.imag()};
      break;
    }
  communicator.all_gather(&mine, sizeof(mine), all.data());
  const First first =
      *std::min_element(all.begin(), all.end(), [](const First& a, const First& b) { return a.number < b.number; });
  const Complex64 shared(first.re, first.im);
  bool same = true;
#pragma omp parallel for schedule(static) reduction(&& : same)
  for (long long i = 0; i < lattice.sites(); ++i)
    if (on_last_slice(lattice, i, mu) == last)
      same = same && std::abs(determinant(gauge.link(i, mu).data(), gauge.colours()) - shared) < 1e-5;
  return communicator.largest(same ? 0 : 1) > 0 ? 0 : shared;
}

}  // namespace

bool fold_boundary_phases(HostGauge& gauge, Communicator& communicator) {
  const Lattice& lattice = gauge.lattice;
  bool moved = false;
  for (int mu = 0; mu < directions; ++mu) {
    const Complex64 last = shared_determinant(gauge, mu, true, communicator);
    if (!(std::abs(std::abs(last) - 1) <= 1e-5) || std::abs(last - 1.0) < 1e-5) continue;
    // A phase of all links, as of an imaginary chemical potential, is none of the boundary.
    const Complex64 others = shared_determinant(gauge, mu, false, communicator);
    if (!(std::abs(std::abs(others) - 1) <= 1e-5)) continue;
    const Complex64 shared = last / others;
    if (std::abs(shared - 1.0) < 1e-5) continue;
    // Any root gives the same operator; for a determinant of -1 the sign is what was folded in, of odd N.
    const bool sign = std::abs(shared + 1.0) < 1e-5 && gauge.colours() % 2 == 1;
    const Complex64 root = sign ? Complex64(-1) : std::polar(1.0, std::arg(shared) / gauge.colours());
    for (long long i = 0; i < lattice.sites(); ++i)
      if (on_last_slice(lattice, i, mu))
        for (Complex64& z : gauge.link(i, mu)) z *= std::conj(root);
    gauge.phase[mu] *= root;
    moved = true;
  }
  return moved;
}

Complex64 boundary_phase(const HostGauge& gauge, const Coordinates& x, int mu) {
  const Lattice& lattice = gauge.lattice;
  return lattice.origin(mu) + x[mu] == lattice.global_extent(mu) - 1 ? gauge.phase[mu] : 1;
}

GaugeAverages gauge_averages(const LinkField& links) {
  const Domain& domain = links.domain();
  if (domain.lattice().ranks() > 1) return host_averages(download(links), domain.communicator());
  const std::vector<double> sums = evaluate("plaquette", {links});
  const double sites = static_cast<double>(domain.lattice().sites()), colours = links.colours();
  GaugeAverages result;
  result.space_plaquette = sums[0] / (3 * colours * sites);
  result.time_plaquette = sums[1] / (3 * colours * sites);
  result.plaquette = (result.space_plaquette + result.time_plaquette) / 2;
  result.link_trace = sums[2] / (4 * colours * sites);
  return result;
}

GaugeAverages gauge_averages(const HostGauge& gauge, const DomainPointer& domain) {
  if (gauge.lattice == domain->lattice() && gauge.lattice.ranks() > 1)
    return host_averages(gauge, domain->communicator());
  return gauge_averages(upload(gauge, domain, find_precision("double"), full_storage(gauge.colours())));
}

}  // namespace quarksmith
