// The Goldstone pions of staggered quarks, of each pair of masses.
#include <fmt/format.h>

#include "solvers/measure/correlators.hpp"
#include "solvers/measure/quark_columns.hpp"
#include "solvers/measure/staggered_hadrons.hpp"

namespace quarksmith {

std::vector<Complex64> goldstone_correlator(const Propagator& a, const Propagator& b, int source_t) {
  const int extent = a.lattice().global_extent(3);
  const std::vector<Complex64> sums =
      staggered_meson_sums(a, b, std::span(staggered_mesons()).first(1), {{{0, 0, 0}}, {}});
  std::vector<Complex64> result(extent);
  for (int t = 0; t < extent; ++t) result[t] = sums[(t + source_t) % extent];
  return result;
}

namespace correlators {
namespace {

/// `pion` for one mass, with the masses appended for several.
std::string pion_name(const std::vector<double>& masses, std::size_t i, std::size_t j) {
  if (masses.size() == 1) return "pion";
  return i == j ? fmt::format("pion_{}", masses[i]) : fmt::format("pion_{}_{}", masses[i], masses[j]);
}

std::vector<Correlator> contract_goldstone(const QuarkColumns& quark) {
  std::vector<Correlator> all;
  if (!quark.staggered()) return {};
  const auto& s = quark.quarks;
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = i; j < s.size(); ++j) {
      const std::vector<Complex64> pion = goldstone_correlator(s[i], s[j], quark.source_t);
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
