/// \file
/// Forces against differences of the action along paths of molecular dynamics.
#pragma once

#include <cmath>
#include <vector>

#include "solvers/hmc/monomial.hpp"

namespace support {

/// The sum of Re tr P F over links.
inline double product(const quarksmith::LinkField& p, const quarksmith::LinkField& f) {
  const quarksmith::HostGauge one = download(p), other = download(f);
  double sum = 0;
  for (std::size_t x = 0; x < one.site.size(); ++x)
    for (int mu = 0; mu < quarksmith::directions; ++mu)
      for (int i = 0, n = one.colours(); i < n; ++i)
        for (int j = 0; j < n; ++j) sum += (one.link(x, mu)[n * i + j] * other.link(x, mu)[n * j + i]).real();
  return sum;
}

/// dS/dtau along U' = P U: from differences, and what the force gives.
struct Slope {
  double found, expected;
  double size;  ///< that of P and F in parallel
};

/// With momenta of their own; differences of sixth order between times that are h apart. F = dP/dtau of S gives 2 sum
/// tr P F.
inline std::vector<Slope> slopes(quarksmith::Monomial& monomial, quarksmith::EvolvingLinks& links, double h) {
  using namespace quarksmith;
  constexpr double weights[] = {0.75, -0.15, 1.0 / 60};
  LinkField f = links.cleared();
  monomial.force(links, 1, f);
  std::vector<Slope> all;
  for (const int number : {1, 2, 3}) {
    LinkField p = links.cleared();
    GaussianNoise(3, number).momenta(p);
    const auto start = links.keep();
    const auto action_at = [&](double time) {
      links.move(p, time);
      const double action = monomial.action(links);
      links.restore(start);
      return action;
    };
    Slope s{0, 2 * product(p, f), 2 * std::sqrt(product(p, p) * product(f, f))};
    for (int n = 1; n <= 3; ++n) s.found += weights[n - 1] * (action_at(n * h) - action_at(-n * h)) / h;
    all.push_back(s);
  }
  return all;
}

}  // namespace support
