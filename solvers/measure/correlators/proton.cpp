// The proton of three quarks of one mass.
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/spin_matrix.hpp"

namespace quarksmith {
namespace {

/// One non-zero element of a sparse spin matrix.
struct Element {
  int row, column;
  Complex64 value;
};

std::vector<Element> elements(const Spin4& m) {
  std::vector<Element> list;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (std::abs(m[i][j]) > 1e-12) list.push_back({i, j, m[i][j]});
  return list;
}

constexpr struct {
  int a, b, c;
  double sign;
} permutations[] = {{0, 1, 2, 1}, {1, 2, 0, 1}, {2, 0, 1, 1}, {0, 2, 1, -1}, {2, 1, 0, -1}, {1, 0, 2, -1}};

/// sum eps eps' (C g5)_{al be} (C g5)_{al' be'} P_{ga' ga} S_{be be'}^{bb'} (S_{al al'}^{aa'} S_{ga ga'}^{cc'} -
/// S_{al ga'}^{ac'} S_{ga al'}^{ca'})
Complex64 proton_at(const std::array<HostSite, 12>& m, const std::vector<Element>& diquark,
                    const std::vector<Element>& projector) {
  const auto s = [&m](int sink_spin, int sink, int source_spin, int source) {
    return m[3 * source_spin + source][3 * sink_spin + sink];
  };
  Complex64 total = 0;
  for (const auto& p : permutations)
    for (const auto& q : permutations)
      for (const Element& in : diquark)
        for (const Element& out : diquark) {
          const Complex64 weight = p.sign * q.sign * in.value * out.value * s(in.column, p.b, out.column, q.b);
          Complex64 pairs = 0;
          for (const Element& g : projector)
            pairs += g.value * (s(in.row, p.a, out.row, q.a) * s(g.column, p.c, g.row, q.c) -
                                s(in.row, p.a, g.row, q.c) * s(g.column, p.c, out.row, q.a));
          total += weight * pairs;
        }
  return total;
}

}  // namespace

std::vector<Complex64> proton_correlator(const Propagator& s, int source_t, Complex64 time_phase,
                                         Communicator& communicator) {
  const int extent = s.lattice.global_extent(3), space = s.lattice.space_sites();
  // C = gamma_y gamma_t fulfils C gamma_mu C^-1 = -gamma_mu^T in the DeGrand-Rossi basis up to a phase that cancels.
  const std::vector<Element> diquark = elements(product(product(gamma(1), gamma(3)), gamma_product(15)));
  Spin4 forward = gamma(3);
  for (int i = 0; i < 4; ++i) {
    forward[i][i] += 1.0;
    for (Complex64& z : forward[i]) z *= 0.5;
  }
  const std::vector<Element> projector = elements(forward);
  std::vector<Complex64> slices(extent), result(extent);
  for (int t = 0; t < s.lattice.extent(3); ++t) {
    double re = 0, im = 0;
    std::vector<Complex64> sums(space);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < space; ++i)
      sums[i] = proton_at(s.site[static_cast<std::size_t>(t) * space + i], diquark, projector);
    for (const Complex64& z : sums) re += z.real(), im += z.imag();  // in a fixed order
    slices[s.lattice.origin(3) + t] = {re, im};
  }
  communicator.sum({reinterpret_cast<double*>(slices.data()), 2 * slices.size()});
  for (int t = 0; t < extent; ++t) {
    result[t] = slices[(t + source_t) % extent];
    if (t + source_t >= extent) result[t] /= time_phase * time_phase * time_phase;
  }
  return result;
}

namespace correlators {
namespace {

std::vector<Correlator> contract_proton(const QuarkColumns& quark) {
  if (!quark.dirac) return {};
  return {{"correlators", "proton",
           proton_correlator(*quark.dirac, quark.source_t, quark.time_phase, *quark.communicator)}};
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
