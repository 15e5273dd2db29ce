#include "solvers/measure/sequential.hpp"

#include <algorithm>
#include <functional>

#include "runtime/fields/expression.hpp"
#include "runtime/text.hpp"
#include "solvers/measure/spin_matrix.hpp"

namespace quarksmith {
namespace {

const std::vector<Current>& all_currents() {
  static const std::vector<Current> table = [] {
    constexpr int g5 = 15;
    std::vector<Current> all = {{"S", 0}, {"P", g5}};
    const auto number = [](int mu) { return std::to_string(mu + 1); };
    for (int mu = 0; mu < directions; ++mu) all.push_back({"V" + number(mu), 1 << mu});
    for (int mu = 0; mu < directions; ++mu)  // gamma_mu gamma_5 is the product of the others in order, times a sign
      all.push_back({"A" + number(mu), g5 ^ (1 << mu), mu % 2 == 0 ? 1.0 : -1.0});
    for (int mu = 0; mu < directions; ++mu)
      for (int nu = mu + 1; nu < directions; ++nu) all.push_back({"T" + number(mu) + number(nu), 1 << mu | 1 << nu});
    for (int mu = 0; mu < directions; ++mu) all.push_back({"conserved_V" + number(mu), mu, 1, true});
    return all;
  }();
  return table;
}

/// A two-point function at the time of the sink.
Complex64 at_sink(const std::vector<Complex64>& sums, int time) { return sums[static_cast<std::size_t>(time)]; }

LinkField conjugate_phases(const Propagator& s, const SinkPlace& sink) {
  Momentum opposite;
  std::transform(sink.momentum.begin(), sink.momentum.end(), opposite.begin(), std::negate<>());
  return phases_at(s.field().domain_pointer(), sink.time, opposite, sink.origin);
}

/// tr[(gamma_5 X)^+ G S] of all sixteen products G, [place][G].
std::vector<Complex64> all_bilinears(const Propagator& x, const Propagator& s, const MomentumPhases& phases) {
  std::vector<Complex64> sums = momentum_sums(site_sums("bilinears", {s.field(), x.field(), GammaProduct{0}}), phases);
  std::vector<Complex64> all(sums.size());
  for (int g = 0; g < 16; ++g) {
    const GammaFactor to = product_of_gammas(15, g);
    for (std::size_t n = 0; n < sums.size(); n += 16) all[n + g] = to.factor * sums[n + to.number];
  }
  return all;
}

}  // namespace

SinkSource sequential_source(const Propagator& s1, const Propagator& s2, const GammaPair& gammas,
                             const SinkPlace& sink) {
  // conj(F) = (G^+ gamma_5) S2 (gamma_5 G'^+), and gamma_5 before it
  const Spin4 g5 = gamma_product(15);
  const Spin4 before = product(g5, dagger(product(g5, gamma_product(gammas.sink))));
  const Spin4 behind = dagger(product(gamma_product(gammas.source), g5));
  const GammaFactor from = factor_of(before), to = factor_of(behind);
  Propagator source(s2.field().domain_pointer());
  const Complex64 factor = from.factor * to.factor;
  evaluate("turned_propagator",
           {s2.field(), factor, conjugate_phases(s2, sink), GammaProduct{from.number}, GammaProduct{to.number}},
           {source.field()});
  const auto sums = meson_sums(s1, s2, {{gammas}}, {{sink.momentum}, sink.origin});
  return {std::move(source), at_sink(sums, sink.time)};
}

SinkSource sequential_source(std::span<const Propagator* const> lines, const Baryon& baryon, int line,
                             const SinkPlace& sink) {
  const auto role = std::find(baryon.lines.begin(), baryon.lines.end(), line) - baryon.lines.begin();
  const auto sums = baryon_sums(lines, {{baryon}}, {{sink.momentum}, sink.origin});
  return {baryon_source(lines, baryon, line, conjugate_phases(*lines[line], sink)),
          static_cast<double>(baryon.quarks[role]) * at_sink(sums, sink.time)};
}

Current current_named(const std::string& name) {
  for (const Current& c : all_currents())
    if (c.name == name) return c;
  if (const auto gamma = meson_number(name)) return {name, *gamma};
  const std::vector<std::string> all = current_names();
  unknown_name("current", name, std::vector<std::string_view>(all.begin(), all.end()));
}

std::vector<std::string> current_names() {
  std::vector<std::string> names;
  for (const Current& c : all_currents()) names.push_back(c.name);
  names.insert(names.end(), meson_names().begin(), meson_names().end());
  return names;
}

std::vector<Complex64> three_point_sums(const Propagator& x, const Propagator& s, std::span<const Current> currents,
                                        const MomentumPhases& phases) {
  const std::vector<Complex64> sums = all_bilinears(x, s, phases);
  std::vector<Complex64> all;
  for (std::size_t n = 0; n < sums.size(); n += 16)
    for (const Current& c : currents) all.push_back(c.sign * sums[n + c.gamma]);
  return all;
}

std::vector<Complex64> conserved_three_point_sums(const Propagator& x, const Propagator& s,
                                                  const AheadPropagators& ahead, int mu, const MomentumPhases& phases) {
  const std::vector<Complex64> back = all_bilinears(*ahead.x, s, phases), forth = all_bilinears(x, *ahead.s, phases);
  std::vector<Complex64> all;
  for (std::size_t n = 0; n < back.size(); n += 16)
    all.push_back(0.5 * (back[n] + back[n + (1 << mu)] - forth[n] + forth[n + (1 << mu)]));
  return all;
}

}  // namespace quarksmith
