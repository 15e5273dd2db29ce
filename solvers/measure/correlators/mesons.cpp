// Mesons of any two quarks, in all gamma structures.
#include <algorithm>
#include <map>

#include "runtime/fields/expression.hpp"
#include "solvers/measure/correlators.hpp"
#include "solvers/measure/quark_columns.hpp"
#include "solvers/measure/spin_matrix.hpp"

namespace quarksmith {

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

std::optional<int> meson_number(std::string_view name) {
  const auto found = std::ranges::find(meson_names(), name);
  if (found == meson_names().end()) return std::nullopt;
  return static_cast<int>(found - meson_names().begin());
}

std::vector<Complex64> meson_sums(const Propagator& s1, const Propagator& s2, std::span<const GammaPair> gammas,
                                  const MomentumPhases& phases) {
  const auto same = [](const GammaPair& g) { return g.sink == g.source; };
  std::map<int, std::vector<Complex64>> of_sources;  // by the gamma at the source; -1: the same at both ends
  std::vector<Complex64> all;
  for (std::size_t k = 0; k < gammas.size(); ++k) {
    const GammaPair& g = gammas[k];
    // tr[(gamma_5 S2 gamma_5)^+ G S1 G'] = tr[S2^+ (gamma_5 G) S1 (G' gamma_5)]
    const GammaFactor left = product_of_gammas(15, g.sink), right = product_of_gammas(g.source, 15);
    const auto [found, is_new] = of_sources.try_emplace(same(g) ? -1 : right.number);
    if (is_new)
      found->second =
          momentum_sums(same(g) ? site_sums("mesons", {s1.field(), s2.field()})
                                : site_sums("bilinears", {s1.field(), s2.field(), GammaProduct{right.number}}),
                        phases);
    const std::vector<Complex64>& sums = found->second;
    all.resize(sums.size() / 16 * gammas.size());
    for (std::size_t n = 0; n < sums.size() / 16; ++n)
      all[n * gammas.size() + k] =
          same(g) ? sums[16 * n + g.sink] : left.factor * right.factor * sums[16 * n + left.number];
  }
  return all;
}

std::vector<std::vector<double>> meson_correlators(const Propagator& s, int source_t) {
  const int extent = s.lattice().global_extent(3);
  std::vector<GammaPair> gammas;
  for (int n = 0; n < 16; ++n) gammas.push_back({n, n});
  const std::vector<Complex64> sums = meson_sums(s, s, gammas, {{{0, 0, 0}}, {}});
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
  if (quark.staggered()) return {};
  const auto mesons = meson_correlators(quark.quarks[0], quark.source_t);
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
