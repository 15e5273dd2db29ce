/// \file
/// Disconnected quark loops from noise: sum_x exp(i p.(x - x0)) tr[G M^-1(x, x)] as the mean of eta^+ G x with M x =
/// eta (S.-J. Dong and K.-F. Liu, Phys. Lett. B 328 (1994) 130), the noise diluted (J. Foley et al., hep-lat/0505023).
#pragma once

#include <span>
#include <vector>

#include "solvers/measure/momenta.hpp"

namespace quarksmith {

/// Dilution of noise into parts that are solved for separately. Each option removes contributions of other sites and
/// components to the variance; all together remove all of them.
struct Dilution {
  bool spin = false, colour = false, even_odd = false, time = false, space = false;

  /// Number of parts of a noise vector.
  long long parts(const Lattice& lattice) const;
  /// Part n of a noise vector.
  HostSpinor part(const HostSpinor& noise, long long n) const;
};

/// Independent roots of unity of order 2 or 4 for all sites, spins and colours. \param number of the noise.
HostSpinor independent_noise(const Lattice& lattice, std::uint64_t seed, std::uint64_t number, int order);

/// Sums eta^+ G x over the parts of noise vectors, for all sixteen products G of gammas.
class LoopSum {
 public:
  explicit LoopSum(MomentumPhases phases) : phases_(std::move(phases)) {}
  /// Adds a noise eta and its solution x, in the basis of propagators. Collective.
  void add(const SpinorField& eta, const SpinorField& x);
  /// Loops for some gamma products, by their numbers in gamma_product, in the order of momentum_sums.
  std::vector<Complex64> sums(std::span<const int> gammas) const;

 private:
  MomentumPhases phases_;
  std::vector<Complex64> all_;
};

}  // namespace quarksmith
