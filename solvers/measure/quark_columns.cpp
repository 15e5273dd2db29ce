#include "solvers/measure/quark_columns.hpp"

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

QuarkColumns::QuarkColumns(const DomainPointer& domain, std::vector<double> m) : masses(std::move(m)) {
  if (masses.empty()) quarks.emplace_back(domain);
  for (std::size_t n = 0; n < masses.size(); ++n) quarks.emplace_back(domain, 1);
}

void QuarkColumns::take(int n, const HostSpinor& column) {
  if (staggered())
    quarks[n / 3].set_column(n % 3, column);
  else
    quarks[0].set_column(n, column);
}

void QuarkColumns::take(int n, const SpinorField& column, const BasisInfo& basis) {
  staggered() ? quarks[n / 3].take(n % 3, column, basis) : quarks[0].take(n, column, basis);
}

}  // namespace quarksmith
