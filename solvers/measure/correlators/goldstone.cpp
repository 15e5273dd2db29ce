// The Goldstone pions of staggered quarks, of each pair of masses.
#include <fmt/format.h>

#include "solvers/measure/correlators.hpp"

namespace quarksmith {

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

namespace correlators {
namespace {

/// Of one mass `pion`, of several with the masses.
std::string pion_name(const std::vector<double>& masses, std::size_t i, std::size_t j) {
  if (masses.size() == 1) return "pion";
  return i == j ? fmt::format("pion_{}", masses[i]) : fmt::format("pion_{}_{}", masses[i], masses[j]);
}

std::vector<Correlator> contract_goldstone(const QuarkColumns& quark) {
  std::vector<Correlator> all;
  const auto& s = quark.staggered;
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = i; j < s.size(); ++j) {
      const std::vector<Complex64> pion = goldstone_correlator(s[i], s[j], quark.source_t, *quark.communicator);
      std::vector<double> real;
      for (const Complex64& z : pion) real.push_back(z.real());
      const std::string name = pion_name(quark.masses, i, j);
      all.push_back(i == j ? Correlator{"correlators", name, real} : Correlator{"correlators", name, pion});
    }
  return all;
}

}  // namespace

extern constinit const CorrelatorKind goldstone = {
    .keys = "pion; of several masses pion_M, pion_M1_M2 (complex)",
    .quarks = "staggered",
    .formula = "sum_x conj(A) B of the Goldstone pion (G. W. Kilcup and S. R. Sharpe, Nucl. Phys. B 283 (1987) 493)",
    .contract = contract_goldstone};

}  // namespace correlators
}  // namespace quarksmith
