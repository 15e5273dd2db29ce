#include "solvers/measure/residual_mass.hpp"

namespace quarksmith {

std::vector<double> slice_norms(const HostSpinor& column, Communicator& communicator) {
  const Lattice& lattice = column.lattice;
  std::vector<double> norms(lattice.global_extent(3));
  for (long long i = 0; i < lattice.sites(); ++i) {
    double& norm = norms[lattice.origin(3) + lattice.coordinates(i)[3]];
    for (const Complex64& z : column.site[i]) norm += std::norm(z);
  }
  communicator.sum(norms);
  return norms;
}

ResidualMass::ResidualMass(const Lattice& lattice) : midpoint_(lattice.global_extent(3)), wall_(midpoint_.size()) {}

void ResidualMass::add(const std::vector<double>& midpoint, const std::vector<double>& quark) {
  for (std::size_t t = 0; t < wall_.size(); ++t) {
    midpoint_[t] += midpoint[t];
    wall_[t] += quark[t];
  }
}

std::vector<double> ResidualMass::values(int source_t) const {
  const std::size_t extent = wall_.size();
  std::vector<double> result;
  for (std::size_t t = 0; t < extent; ++t) {
    const std::size_t there = (t + source_t) % extent;
    result.push_back(midpoint_[there] / wall_[there]);
  }
  return result;
}

}  // namespace quarksmith
