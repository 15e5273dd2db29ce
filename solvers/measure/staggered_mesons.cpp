#include "solvers/measure/staggered_mesons.hpp"

namespace quarksmith {

void StaggeredPropagator::set_column(int colour, const HostSpinor& solution) {
  for (std::size_t i = 0; i < site.size(); ++i)
    for (int c = 0; c < 3; ++c) site[i][colour][c] = solution.site[i][c];
}

std::vector<Complex64> goldstone_correlator(const StaggeredPropagator& a, const StaggeredPropagator& b, int source_t,
                                            Communicator& communicator) {
  const Lattice& lattice = a.lattice;
  const int extent = lattice.global_extent(3), space = lattice.space_sites();
  std::vector<Complex64> result(extent);
#pragma omp parallel for schedule(static)
  for (int t = 0; t < lattice.extent(3); ++t) {
    Complex64 sum = 0;
    for (std::size_t i = std::size_t(t) * space; i < std::size_t(t + 1) * space; ++i)
      for (int source = 0; source < 3; ++source)
        for (int sink = 0; sink < 3; ++sink) sum += std::conj(a.site[i][source][sink]) * b.site[i][source][sink];
    result[(t + lattice.origin(3) - source_t + extent) % extent] = sum;
  }
  communicator.sum({reinterpret_cast<double*>(result.data()), 2 * result.size()});
  return result;
}

}  // namespace quarksmith
