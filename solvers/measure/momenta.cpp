#include "solvers/measure/momenta.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace quarksmith {
namespace {

/// n (x - x0) / L but for whole turns, so that the phase of a site does not depend on how far it is from the origin.
double turns(const Lattice& lattice, int mu, int n, int x, const Coordinates& origin) {
  const int extent = lattice.global_extent(mu);
  return static_cast<double>(static_cast<long long>(n) * (x + lattice.origin(mu) - origin[mu]) % extent) / extent;
}

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

bool SpaceSymmetry::is_whole() const {
  return numbers[0] == numbers[1] && numbers[1] == numbers[2] && mirrored == std::array{true, true, true};
}

std::vector<Momentum> equivalents_of(const Momentum& p, const SpaceSymmetry& symmetry) {
  std::vector<Momentum> all;
  Momentum order{0, 1, 2};
  do {
    bool alike = true;
    for (int mu = 0; mu < 3; ++mu) alike = alike && symmetry.numbers[mu] == symmetry.numbers[order[mu]];
    for (int signs = 0; alike && signs < 8; ++signs) {
      Momentum q;
      bool allowed = true;
      for (int mu = 0; mu < 3; ++mu) {
        const bool mirror = (signs >> mu & 1) != 0;
        allowed = allowed && (!mirror || symmetry.mirrored[mu]);
        q[mu] = (mirror ? -1 : 1) * p[order[mu]];
      }
      if (allowed) all.push_back(q);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<Complex64> momentum_sums(const SiteSums& numbers, const MomentumPhases& phases) {
  const Lattice& l = numbers.lattice();
  const auto sites = static_cast<std::size_t>(l.space_sites());
  std::vector<Complex64> turns(phases.momenta.size() * sites);
#pragma omp parallel for schedule(static)
  for (std::size_t n = 0; n < turns.size(); ++n)
    turns[n] = phase_at(l, l.coordinates(static_cast<long long>(n % sites)), phases.momenta[n / sites], phases.origin);
  return numbers.over_slices(turns);
}

LinkField phases_at(const DomainPointer& domain, int time, const Momentum& p, const Coordinates& origin) {
  const Lattice& l = domain->lattice();
  HostGauge numbers(l, 1);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < l.sites(); ++i) {
    const Coordinates x = l.coordinates(i);
    numbers.link(i, 0)[0] = x[3] + l.origin(3) == time ? phase_at(l, x, p, origin) : 0.0;
  }
  return upload(numbers, domain, find_precision("double"), full_storage(1));
}

}  // namespace quarksmith
