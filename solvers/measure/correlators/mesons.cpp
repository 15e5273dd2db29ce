// Mesons of any two quarks, in all gamma structures.
#include <algorithm>
#include <map>

#include "solvers/measure/correlators.hpp"
#include "solvers/measure/row_matrices.hpp"
#include "solvers/measure/spin_matrix.hpp"

namespace quarksmith {
namespace {

/// sum over colours of S1_bc conj(S2_ed), spins b, e at the sink and c, d at the source.
struct SpinPair {
  int b, c, e, d;
  auto operator<=>(const SpinPair&) const = default;
};

/// What a pair of gammas takes of each of the spin pairs that occur.
struct MesonTerms {
  std::vector<SpinPair> pairs;
  std::vector<std::vector<std::pair<int, Complex64>>> correlators;  ///< number of a spin pair, and its weight

  /// tr[gamma_5 S2^+ gamma_5 G S1 G'] = sum of (gamma_5 G)_eb S1_bc (G' gamma_5)_cd conj(S2_ed)
  explicit MesonTerms(std::span<const GammaPair> gammas) {
    std::map<SpinPair, int> numbers;
    const Spin4 g5 = gamma_product(15);
    for (const GammaPair& g : gammas) {
      const Spin4 sink = product(g5, gamma_product(g.sink)), source = product(gamma_product(g.source), g5);
      auto& terms = correlators.emplace_back();
      for (int n = 0; n < 256; ++n) {
        const SpinPair p{n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6};
        const Complex64 weight = sink[p.e][p.b] * source[p.c][p.d];
        if (weight == 0.0) continue;
        const auto [found, is_new] = numbers.try_emplace(p, static_cast<int>(pairs.size()));
        if (is_new) pairs.push_back(p);
        terms.emplace_back(found->second, weight);
      }
    }
  }
};

void contract_row(const MesonTerms& terms, const RowNumber* s1, const RowNumber* s2, RowNumber* values) {
  std::vector<RowNumber> sums(terms.pairs.size());
  for (std::size_t n = 0; n < sums.size(); ++n) {
    const SpinPair& p = terms.pairs[n];
    for (int source = 0; source < 3; ++source)
      for (int sink = 0; sink < 3; ++sink)
        add_conjugated(s1[12 * (3 * p.c + source) + 3 * p.b + sink], s2[12 * (3 * p.d + source) + 3 * p.e + sink],
                       sums[n]);
  }
  for (std::size_t k = 0; k < terms.correlators.size(); ++k)
    for (const auto& [n, weight] : terms.correlators[k]) add_scaled(weight, sums[n], values[k]);
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

std::vector<Complex64> meson_sums(const Propagator& s1, const Propagator& s2, std::span<const GammaPair> gammas,
                                  const MomentumPhases& phases, Communicator& communicator) {
  const MesonTerms terms(gammas);
  const auto values = [&](long long first, int sites, RowNumber* to) {
    std::vector<RowNumber> rows(288);
    load_row(s1, first, sites, rows.data());
    if (&s1 != &s2) load_row(s2, first, sites, rows.data() + 144);
    contract_row(terms, rows.data(), rows.data() + (&s1 == &s2 ? 0 : 144), to);
  };
  return momentum_sums(s1.lattice, phases, static_cast<int>(gammas.size()), values, communicator);
}

std::vector<std::vector<double>> meson_correlators(const Propagator& s, int source_t, Communicator& communicator) {
  const int extent = s.lattice.global_extent(3);
  std::vector<GammaPair> gammas;
  for (int n = 0; n < 16; ++n) gammas.push_back({n, n});
  const std::vector<Complex64> sums = meson_sums(s, s, gammas, {{{0, 0, 0}}, {}}, communicator);
  const Spin4 gt = gamma(3);
  std::vector<std::vector<double>> result(16, std::vector<double>(extent));
  for (int n = 0; n < 16; ++n) {
    // Gbar = gamma_t G^+ gamma_t is G or -G.
    const Spin4 g = gamma_product(n), bar = product(gt, product(dagger(g), gt));
    double sign = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) sign += (bar[i][j] * std::conj(g[i][j])).real() / 4;
    for (int t = 0; t < extent; ++t) result[n][t] = -sign * sums[16 * ((t + source_t) % extent) + n].real();
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
