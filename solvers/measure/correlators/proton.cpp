// The proton of three quarks of one mass.
#include "runtime/fields/expression.hpp"
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/quark_columns.hpp"

namespace quarksmith {

std::vector<Complex64> proton_correlator(const Propagator& s, int source_t, Complex64 time_phase) {
  const int extent = s.lattice().global_extent(3);
  const std::vector<Complex64> slices = momentum_sums(site_sums("proton", {s.field(), s.field()}), {{{0, 0, 0}}, {}});
  std::vector<Complex64> result(extent);
  for (int t = 0; t < extent; ++t) {
    result[t] = slices[(t + source_t) % extent];
    if (t + source_t >= extent) result[t] /= time_phase * time_phase * time_phase;
  }
  return result;
}

namespace correlators {
namespace {

std::vector<Correlator> contract_proton(const QuarkColumns& quark) {
  if (quark.staggered()) return {};
  return {{"correlators", "proton", proton_correlator(quark.quarks[0], quark.source_t, quark.time_phase)}};
}

}  // namespace

extern constinit const CorrelatorKind proton = {
    .keys = "proton (complex)",
    .quarks = "Dirac",
    .formula =
        "eps eps' (u^T C gamma_5 d) u with (1 + gamma_t)/2 (Gattringer and Lang, eq. 6.34), without the phase of "
        "the boundary",
    .contract = contract_proton};

}  // namespace correlators
}  // namespace quarksmith
