#include "solvers/residual_mass.hpp"

namespace quarksmith {

ResidualMass::ResidualMass(const Lattice& lattice)
    : lattice_(lattice), midpoint_(lattice.global_extent(3)), wall_(midpoint_.size()) {}

void ResidualMass::add(const HostSpinor& midpoint, const HostSpinor& quark) {
  for (long long i = 0; i < lattice_.sites(); ++i) {
    const int t = lattice_.origin(3) + lattice_.coordinates(i)[3];
    for (const Complex64& z : midpoint.site[i]) midpoint_[t] += std::norm(z);
    for (const Complex64& z : quark.site[i]) wall_[t] += std::norm(z);
  }
  ++columns_;
}

std::vector<double> ResidualMass::values(int source_t, Communicator& communicator) const {
  std::vector<double> above = midpoint_, below = wall_, result;
  communicator.sum(above);
  communicator.sum(below);
  const std::size_t extent = above.size();
  for (std::size_t t = 0; t < extent; ++t) {
    const std::size_t there = (t + source_t) % extent;
    result.push_back(above[there] / below[there]);
  }
  return result;
}

}  // namespace quarksmith
