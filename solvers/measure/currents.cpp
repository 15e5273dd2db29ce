#include "solvers/measure/currents.hpp"

#include <map>

#include "solvers/measure/correlators.hpp"

namespace quarksmith {
namespace {

using Sums = std::vector<Complex64>;

void add(Sums& to, double factor, const Sums& sums) {
  to.resize(sums.size());
  for (std::size_t n = 0; n < sums.size(); ++n) to[n] += factor * sums[n];
}

/// [place][k] of [k][place].
Sums by_place(const std::vector<Sums>& parts) {
  Sums all;
  for (std::size_t n = 0; n < parts[0].size(); ++n)
    for (const Sums& part : parts) all.push_back(part[n]);
  return all;
}

/// A quark, and the propagator of which the antiquark's is made.
struct QuarkPair {
  const Propagator &quark, &antiquark;
};

/// 1/2 of the term in which the quark is at the neighbour and of that in which the antiquark is, with factors.
Sums between(const QuarkPair& here, const QuarkPair& ahead, const GammaPair& gammas, double of_quark,
             double of_antiquark, const MomentumPhases& phases) {
  Sums sum;
  add(sum, of_quark / 2, meson_sums(ahead.quark, here.antiquark, {{gammas}}, phases));
  add(sum, of_antiquark / 2, meson_sums(here.quark, ahead.antiquark, {{gammas}}, phases));
  return sum;
}

/// The conserved vector current of the Wilson operator, to psibar G' psi.
Sums conserved(const QuarkPair& here, const QuarkPair& ahead, int mu, int source, const MomentumPhases& phases) {
  Sums sum = between(here, ahead, {1 << mu, source}, 1, 1, phases);
  add(sum, 1, between(here, ahead, {0, source}, -1, 1, phases));
  return sum;
}

std::vector<std::string> numbered(std::vector<std::string> names, const std::string& before, int first, int count) {
  for (int n = first; n < first + count; ++n) names.push_back(before + std::to_string(n));
  return names;
}

}  // namespace

const std::vector<std::string>& chroma_current_names() {
  static const std::vector<std::string> names = numbered(numbered({}, "vector-", 0, 9), "axial-", 0, 2);
  return names;
}

Sums chroma_current_sums(const Propagator& s1, const Propagator& s2, std::span<const int> currents,
                         const AheadOf& ahead, const MomentumPhases& phases) {
  constexpr int vectors = 9, t = 3, g5 = 15, a_t = 7;
  std::vector<Sums> parts;
  for (const int n : currents) {
    const bool axial = n >= vectors;
    const int mu = axial ? t : n % 3, g = axial ? a_t : 1 << mu, source = axial ? g5 : g;
    if (n == vectors + 1 || n / 3 == 2) {  // local
      parts.emplace_back();
      add(parts.back(), -1, meson_sums(s1, s2, {{{axial ? g : g ^ (1 << t), source}}}, phases));
      continue;
    }
    const Propagator ahead_1 = ahead(s1, mu), ahead_2 = ahead(s2, mu);
    const QuarkPair here = {s1, s2}, next = {ahead_1, ahead_2};
    parts.push_back(axial        ? between(here, next, {g, source}, -1, -1, phases)
                    : n / 3 == 0 ? between(here, next, {g, source}, 1, 1, phases)
                                 : conserved(here, next, mu, source, phases));
  }
  return by_place(parts);
}

WallPropagator::WallPropagator(const DomainPointer& domain, int count) : midpoint(domain) {
  for (int s = 0; s < count; ++s) slices.emplace_back(domain);
}

void WallPropagator::take(int first, const DiracOperator& dirac, const SpinorField& x, const BasisInfo& basis) {
  const int count = static_cast<int>(slices.size());
  const SpinorField all = x.by_slice();
  SpinorField columns = all.columns(0, x.rhs()).like();
  for (int s = 0; s < count; ++s) {
    for (int n = 0; n < x.rhs(); ++n) columns.columns(n, 1).copy_from(all.columns(n * count + s, 1));
    slices[s].take(first, columns, basis);
  }
  dirac.midpoint(columns, x);
  midpoint.take(first, columns, basis);
}

const std::vector<std::string>& wall_current_names() {
  static const std::vector<std::string> names = numbered(numbered({"J5q"}, "conserved_A", 1, 4), "conserved_V", 1, 4);
  return names;
}

Sums wall_current_sums(const WallPropagator& s, int source, std::span<const int> currents, const AheadOf& ahead,
                       const MomentumPhases& phases) {
  constexpr int g5 = 15;
  const int count = static_cast<int>(s.slices.size());
  std::map<int, std::array<Sums, 2>> of_direction;  // axial, vector
  const auto make = [&](int mu) -> std::array<Sums, 2>& {
    const auto [found, is_new] = of_direction.try_emplace(mu);
    for (int n = 0; is_new && n < count; ++n) {  // the antiquark of slice n is the reflection of the quark of the other
      const Propagator &quark = s.slices[n], &other = s.slices[count - 1 - n];
      const Propagator quark_ahead = ahead(quark, mu), other_ahead = ahead(other, mu);
      const Sums sums = conserved({quark, other}, {quark_ahead, other_ahead}, mu, source, phases);
      add(found->second[0], n < count / 2 ? -1 : 1, sums);
      add(found->second[1], 1, sums);
    }
    return found->second;
  };
  std::vector<Sums> parts;
  for (const int n : currents)
    parts.push_back(n == 0 ? meson_sums(s.midpoint, s.midpoint, {{{g5, source}}}, phases)
                           : make((n - 1) % directions)[(n - 1) / directions]);
  return by_place(parts);
}

}  // namespace quarksmith
