// Mesons of two quarks of one mass, in all gamma structures.
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/spin_matrix.hpp"

namespace quarksmith {
namespace {

/// T[b][c][e][d] = sum_x sum_colours S_bc conj(S_ed), spins b, e at the sink and c, d at the source.
using SpinTensor = std::array<Complex64, 256>;

SpinTensor slice_tensor(const Propagator& s, int t) {
  const int space = s.lattice.space_sites();
  SpinTensor total{};
  for (int i = 0; i < space; ++i) {
    const auto& m = s.site[static_cast<std::size_t>(t) * space + i];
    for (int c = 0; c < 4; ++c)
      for (int d = 0; d < 4; ++d)
        for (int colour = 0; colour < 3; ++colour) {
          const HostSite &left = m[3 * c + colour], &right = m[3 * d + colour];
          for (int b = 0; b < 4; ++b)
            for (int e = 0; e < 4; ++e) {
              Complex64 sum = 0;
              for (int k = 0; k < 3; ++k) sum += left[3 * b + k] * std::conj(right[3 * e + k]);
              total[64 * b + 16 * c + 4 * e + d] += sum;
            }
        }
  }
  return total;
}

/// The tensors of all time slices of the whole lattice.
std::vector<SpinTensor> all_slice_tensors(const Propagator& s, Communicator& communicator) {
  std::vector<SpinTensor> tensors(s.lattice.global_extent(3));
#pragma omp parallel for schedule(dynamic)
  for (int t = 0; t < s.lattice.extent(3); ++t) tensors[s.lattice.origin(3) + t] = slice_tensor(s, t);
  communicator.sum({reinterpret_cast<double*>(tensors.data()), tensors.size() * sizeof(SpinTensor) / sizeof(double)});
  return tensors;
}

}  // namespace

const std::vector<std::string>& meson_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int bits = 0; bits < 16; ++bits) {
      std::string name;
      for (int mu = 0; mu < 4; ++mu)
        if (bits >> mu & 1) name += std::string("g") + "xyzt"[mu];
      all.push_back(bits == 0 ? "1" : bits == 15 ? "g5" : name);
    }
    return all;
  }();
  return names;
}

std::vector<std::vector<double>> meson_correlators(const Propagator& s, int source_t, Communicator& communicator) {
  const int extent = s.lattice.global_extent(3);
  const std::vector<SpinTensor> tensors = all_slice_tensors(s, communicator);
  const Spin4 g5 = gamma_product(15), gt = gamma(3);
  std::vector<std::vector<double>> result(16, std::vector<double>(extent));
  for (int bits = 0; bits < 16; ++bits) {
    const Spin4 g = gamma_product(bits);
    const Spin4 sink = product(g5, g), source = product(product(gt, product(dagger(g), gt)), g5);
    for (int t = 0; t < extent; ++t) {
      const SpinTensor& tensor = tensors[(t + source_t) % extent];
      Complex64 sum = 0;
      for (int e = 0; e < 4; ++e)
        for (int b = 0; b < 4; ++b)
          for (int c = 0; c < 4; ++c)
            for (int d = 0; d < 4; ++d) sum += sink[e][b] * source[c][d] * tensor[64 * b + 16 * c + 4 * e + d];
      result[bits][t] = -sum.real();
    }
  }
  return result;
}

namespace correlators {
namespace {

std::vector<Correlator> contract_mesons(const QuarkColumns& quark) {
  if (!quark.dirac) return {};
  const auto mesons = meson_correlators(*quark.dirac, quark.source_t, *quark.communicator);
  const auto& names = meson_names();
  const auto meson = [&](const char* name) -> const std::vector<double>& {
    return mesons[std::find(names.begin(), names.end(), name) - names.begin()];
  };
  std::vector<double> rho = meson("gx");
  for (std::size_t t = 0; t < rho.size(); ++t) rho[t] = (rho[t] + meson("gy")[t] + meson("gz")[t]) / 3;
  std::vector<Correlator> all = {{"correlators", "pion", meson("g5")}, {"correlators", "rho", rho}};
  for (std::size_t n = 0; n < names.size(); ++n) all.push_back({"mesons", names[n], mesons[n]});
  return all;
}

}  // namespace

extern constinit const CorrelatorKind mesons = {
    .keys = "pion, rho; mesons: 1, gx, gy, gxgy, ..., g5",
    .quarks = "Dirac",
    .formula =
        "-sum_x tr[Gamma S Gbar gamma_5 S^+ gamma_5], Gbar = gamma_t Gamma^+ gamma_t; pion is g5, rho the mean of "
        "gx, gy, gz",
    .contract = contract_mesons};

}  // namespace correlators
}  // namespace quarksmith
