#include "solvers/measure/momenta.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace quarksmith {
namespace {

/// The different values of a list in order, and the place of each entry among them.
template <class T>
std::pair<std::vector<T>, std::vector<int>> distinct(const std::vector<T>& all) {
  std::vector<T> values = all;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<int> places;
  for (const T& one : all)
    places.push_back(static_cast<int>(std::lower_bound(values.begin(), values.end(), one) - values.begin()));
  return {values, places};
}

/// Momenta as x, then y, then z are summed: of fewer directions there are fewer different ones.
struct StagedMomenta {
  std::vector<int> x;                 ///< n_x
  std::vector<std::array<int, 2>> y;  ///< n_x, n_y
  std::vector<Momentum> z;
  std::vector<int> x_of_y, y_of_z;  ///< places in the lists before

  explicit StagedMomenta(const std::vector<Momentum>& momenta) : z(momenta) {
    std::vector<std::array<int, 2>> planes;
    for (const Momentum& p : momenta) planes.push_back({p[0], p[1]});
    std::tie(y, y_of_z) = distinct(planes);
    std::vector<int> rows;
    for (const auto& p : y) rows.push_back(p[0]);
    std::tie(x, x_of_y) = distinct(rows);
  }
};

/// n (x - x0) / L but for whole turns, so that the phase of a site does not depend on how far it is from the origin.
double turns(const Lattice& lattice, int mu, int n, int x, const Coordinates& origin) {
  const int extent = lattice.global_extent(mu);
  return static_cast<double>(static_cast<long long>(n) * (x + lattice.origin(mu) - origin[mu]) % extent) / extent;
}

class Summation {
 public:
  Summation(const Lattice& lattice, const MomentumPhases& phases, int count, const RowValues& values)
      : lattice_(lattice), origin_(phases.origin), count_(count), values_(values), staged_(phases.momenta) {}

  /// All momenta of one local t and z.
  std::vector<Complex64> plane(int t, int z) const {
    const std::size_t count = static_cast<std::size_t>(count_);
    std::vector<Complex64> planes(staged_.y.size() * count), rows(staged_.x.size() * count);
    std::vector<RowNumber> values(count);
    for (int y = 0; y < lattice_.extent(1); ++y) {
      std::fill(rows.begin(), rows.end(), 0);
      for (int x = 0; x < lattice_.extent(0); x += row_sites) add_row({x, y, z, t}, values, rows);
      for (std::size_t n = 0; n < staged_.y.size(); ++n)
        add(phase(1, staged_.y[n][1], y), &rows[staged_.x_of_y[n] * count], &planes[n * count]);
    }
    std::vector<Complex64> all(staged_.z.size() * count);
    for (std::size_t n = 0; n < staged_.z.size(); ++n)
      add(phase(2, staged_.z[n][2], z), &planes[staged_.y_of_z[n] * count], &all[n * count]);
    return all;
  }

 private:
  /// exp(i p (x - x0)) of one direction; x within this part.
  Complex64 phase(int mu, int n, int x) const {
    return std::polar(1.0, 2 * std::numbers::pi * turns(lattice_, mu, n, x, origin_));
  }

  void add(Complex64 phase, const Complex64* from, Complex64* to) const {
    const double c = phase.real(), s = phase.imag();
    for (int k = 0; k < count_; ++k)
      to[k] += Complex64(c * from[k].real() - s * from[k].imag(), c * from[k].imag() + s * from[k].real());
  }

  void add_row(const Coordinates& first, std::vector<RowNumber>& values, std::vector<Complex64>& rows) const {
    const int sites = std::min(row_sites, lattice_.extent(0) - first[0]);
    std::fill(values.begin(), values.end(), RowNumber());
    values_(lattice_.index(first), sites, values.data());
    for (std::size_t n = 0; n < staged_.x.size(); ++n) {
      RowNumber phases;
      for (int w = 0; w < sites; ++w) {
        const Complex64 z = phase(0, staged_.x[n], first[0] + w);
        phases.re[w] = z.real();
        phases.im[w] = z.imag();
      }
      for (int k = 0; k < count_; ++k) {
        double re = 0, im = 0;
        for (int w = 0; w < row_sites; ++w) {
          re += phases.re[w] * values[k].re[w] - phases.im[w] * values[k].im[w];
          im += phases.re[w] * values[k].im[w] + phases.im[w] * values[k].re[w];
        }
        rows[n * count_ + k] += Complex64(re, im);
      }
    }
  }

  const Lattice& lattice_;
  Coordinates origin_;
  int count_;
  const RowValues& values_;
  StagedMomenta staged_;
};

}  // namespace

Complex64 phase_at(const Lattice& lattice, const Coordinates& x, const Momentum& p, const Coordinates& origin) {
  double sum = 0;
  for (int mu = 0; mu < 3; ++mu) sum += turns(lattice, mu, p[mu], x[mu], origin);
  return std::polar(1.0, 2 * std::numbers::pi * sum);
}

std::vector<Momentum> momenta_up_to(int largest_square) {
  const int most = static_cast<int>(std::sqrt(static_cast<double>(largest_square)));
  const auto square = [](const Momentum& p) { return p[0] * p[0] + p[1] * p[1] + p[2] * p[2]; };
  std::vector<Momentum> all;
  for (int x = -most; x <= most; ++x)
    for (int y = -most; y <= most; ++y)
      for (int z = -most; z <= most; ++z)
        if (const Momentum p{x, y, z}; square(p) <= largest_square) all.push_back(p);
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return square(a) < square(b); });
  return all;
}

std::vector<Momentum> equivalents_of(const Momentum& p) {
  std::vector<Momentum> all;
  Momentum order{0, 1, 2};
  do {
    for (int signs = 0; signs < 8; ++signs) {
      Momentum q;
      for (int mu = 0; mu < 3; ++mu) q[mu] = (signs >> mu & 1 ? -1 : 1) * p[order[mu]];
      all.push_back(q);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return distinct(all).first;
}

std::vector<Complex64> momentum_sums(const Lattice& lattice, const MomentumPhases& phases, int count,
                                     const RowValues& values, Communicator& communicator) {
  const Summation summation(lattice, phases, count, values);
  const int slices = lattice.extent(3), planes = lattice.extent(2);
  const std::size_t each = phases.momenta.size() * static_cast<std::size_t>(count);
  std::vector<std::vector<Complex64>> parts(static_cast<std::size_t>(slices) * planes);
#pragma omp parallel for schedule(dynamic)
  for (int n = 0; n < slices * planes; ++n) parts[n] = summation.plane(n / planes, n % planes);
  std::vector<Complex64> sums(static_cast<std::size_t>(lattice.global_extent(3)) * each);
  for (int n = 0; n < slices * planes; ++n) {  // in a fixed order
    Complex64* to = &sums[(lattice.origin(3) + n / planes) * each];
    for (std::size_t k = 0; k < each; ++k) to[k] += parts[n][k];
  }
  communicator.sum({reinterpret_cast<double*>(sums.data()), 2 * sums.size()});
  return sums;
}

}  // namespace quarksmith
