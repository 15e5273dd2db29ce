#include "solvers/measure/far_slices.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/measure/correlators.hpp"

namespace quarksmith {

std::vector<double> slice_norms(const Propagator& s) {
  constexpr GammaPair g5[] = {{15, 15}};  // of which the meson is |S|^2
  const std::vector<Complex64> sums =
      s.spins() == 1 ? goldstone_correlator(s, s, 0) : meson_sums(s, s, g5, {{{0, 0, 0}}, {}});
  std::vector<double> norms;
  for (const Complex64& z : sums) norms.push_back(z.real());
  return norms;
}

int known_slices(std::span<const double> norms, double residual) {
  const int extent = static_cast<int>(norms.size());
  const int source = static_cast<int>(std::ranges::max_element(norms) - norms.begin());
  const auto size = [&](int distance) {  // |S| there, beside that at its source
    const double ahead = norms[(source + distance) % extent], behind = norms[(source + extent - distance) % extent];
    return std::sqrt(std::min(ahead, behind) / norms[source]);
  };
  int known = 0;
  while (known < extent / 2 && size(known + 1) * quark_accuracy >= residual) ++known;
  return known;
}

}  // namespace quarksmith
