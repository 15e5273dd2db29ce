#include "solvers/measure/quark_columns.hpp"

namespace quarksmith {

void Propagator::set_column(int spin, int colour, const HostSpinor& solution) {
  for (std::size_t x = 0; x < site.size(); ++x) site[x][3 * spin + colour] = solution.site[x];
}

void Propagator::get_column(int column, HostSpinor& solution) const {
  for (std::size_t x = 0; x < site.size(); ++x) solution.site[x] = site[x][column];
}

void StaggeredPropagator::set_column(int colour, const HostSpinor& solution) {
  for (std::size_t i = 0; i < site.size(); ++i)
    for (int c = 0; c < 3; ++c) site[i][colour][c] = solution.site[i][c];
}

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

QuarkColumns::QuarkColumns(const Lattice& l, std::vector<double> m)
    : lattice(l), staggered(m.size(), StaggeredPropagator(l)), masses(std::move(m)) {
  if (masses.empty()) dirac.emplace(l);
}

void QuarkColumns::take(int n, const HostSpinor& column) {
  if (dirac)
    dirac->set_column(n / 3, n % 3, column);
  else
    staggered[n / 3].set_column(n % 3, column);
}

}  // namespace quarksmith
