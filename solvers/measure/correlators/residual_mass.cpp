// How far domain-wall quarks are from chiral symmetry.
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/quark_columns.hpp"

namespace quarksmith {

std::vector<double> residual_mass(const std::vector<double>& midpoint, const std::vector<double>& wall, int source_t) {
  std::vector<double> result;
  for (std::size_t t = 0; t < wall.size(); ++t) {
    const std::size_t there = (t + source_t) % wall.size();
    result.push_back(midpoint[there] / wall[there]);
  }
  return result;
}

namespace correlators {
namespace {

std::vector<Correlator> contract_residual_mass(const QuarkColumns& quark) {
  if (!quark.has_midpoints()) return {};
  const int extent = quark.lattice().global_extent(3);
  std::vector<double> midpoint(extent), wall(extent);
  for (const auto& [column, norms] : quark.norms)
    for (int t = 0; t < extent; ++t) {
      midpoint[t] += norms.midpoint[t];
      wall[t] += norms.wall[t];
    }
  return {{"", "residual_mass", quarksmith::residual_mass(midpoint, wall, quark.source_t)}};
}

}  // namespace

extern constinit const CorrelatorKind residual_mass = {
    .keys = "residual_mass (not in CSV)",
    .quarks = "domain wall",
    .formula = "sum_x <J_5q P> / sum_x <P P> (T. Blum et al., Phys. Rev. D 69 (2004) 074502), the sink a point",
    .contract = contract_residual_mass};

}  // namespace correlators
}  // namespace quarksmith
