#include "tests/reference/operators.hpp"

#include <cmath>

namespace reference {
namespace {

/// The same matrices in the first directions, none in the others.
Hops without_spin(double forward, double backward, int directions = 4) {
  Hops hops;
  for (int mu = 0; mu < directions; ++mu) hops.matrix[mu] = {forward * identity(), backward * identity()};
  return hops;
}

/// eta_mu [U psi(x+mu) - U^+ psi(x-mu)], the coordinates of eta_mu as bits, x the lowest.
Hops staggered(const PhaseMasks& eta) {
  Hops hops = without_spin(1, -1);
  hops.masks = eta;
  return hops;
}

/// gamma_mu [U psi(x+mu) - U^+ psi(x-mu)]; a chemical potential tells the two hops in time apart.
Hops naive() {
  Hops hops;
  for (int mu = 0; mu < 4; ++mu) hops.matrix[mu] = {gamma(mu), -1 * gamma(mu)};
  hops.directed = 8;
  return hops;
}

}  // namespace

Hops conjugate(const Hops& hops) {
  Hops other = hops;
  for (int mu = 0; mu < 4; ++mu) other.matrix[mu] = {adjoint(hops.matrix[mu][1]), adjoint(hops.matrix[mu][0])};
  return other;
}

std::optional<Hops> hops_of(std::string_view name) {
  if (name == "wilson" || name.starts_with("twisted_")) return Hops{wilson_hops(false)};
  if (name == "laplace3") return without_spin(1, 1, 3);
  if (name == "laplace4") return without_spin(1, 1);
  if (name == "staggered") return staggered({0b0000, 0b0001, 0b0011, 0b0111});           // 1, x, x+y, x+y+z
  if (name == "improved_staggered") return staggered({0b1000, 0b1001, 0b1011, 0b0000});  // t, t+x, t+x+y, 1
  if (name == "naive") return naive();
  return {};
}

std::optional<GammaBasis> basis_of(std::string_view name) {
  if (name == "degrand_rossi") return GammaBasis{{gamma(0), gamma(1), gamma(2), gamma(3)}, identity()};
  if (name != "non_relativistic") return {};
  constexpr Complex64 i{0, 1};
  const double h = std::sqrt(0.5);
  return GammaBasis{{{{{{0, 0, 0, -i}, {0, 0, -i, 0}, {0, i, 0, 0}, {i, 0, 0, 0}}},
                      {{{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}}},
                      {{{0, 0, -i, 0}, {0, 0, 0, i}, {i, 0, 0, 0}, {0, -i, 0, 0}}},
                      {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, -1}}}}},
                    {{{0, h, 0, h}, {-h, 0, -h, 0}, {0, -h, 0, h}, {h, 0, -h, 0}}}};
}

}  // namespace reference
