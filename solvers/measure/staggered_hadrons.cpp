#include "solvers/measure/staggered_hadrons.hpp"

#include <deque>

#include "runtime/fields/expression.hpp"

namespace quarksmith {

const std::vector<StaggeredMeson>& staggered_mesons() {
  static const std::vector<StaggeredMeson> all = [] {
    constexpr int x = 1, y = 2, z = 4, space = x | y | z, everywhere = 15;
    std::vector<StaggeredMeson> table = {{"pion_5", {0}},
                                         {"pion_05", {everywhere}},
                                         {"rho_i", {x, y, z}},
                                         {"rho_i0", {x ^ space, y ^ space, z ^ space}}};
    static std::deque<std::string> names;  // that stay where they are
    for (int bits = 0; bits < 16; ++bits) {
      std::string& name = names.emplace_back();
      for (int mu = 0; mu < directions; ++mu)
        if (bits >> mu & 1) name += "xyzt"[mu];
      if (name.empty()) name = "1";
      table.push_back({name, {bits}});
    }
    return table;
  }();
  return all;
}

std::vector<Complex64> staggered_meson_sums(const Propagator& a, const Propagator& b,
                                            std::span<const StaggeredMeson> mesons, const MomentumPhases& phases) {
  const std::vector<Complex64> sums = momentum_sums(site_sums("staggered_mesons", {b.field(), a.field()}), phases);
  std::vector<Complex64> all;
  for (std::size_t n = 0; n < sums.size(); n += 16)
    for (const StaggeredMeson& m : mesons) {
      Complex64 sum = 0;
      for (const int bits : m.signs) sum += sums[n + bits];
      all.push_back(sum);
    }
  return all;
}

std::vector<Complex64> staggered_nucleon_sums(const Propagator& x, const MomentumPhases& phases) {
  return momentum_sums(site_sums("staggered_nucleon", {x.field()}), phases);
}

}  // namespace quarksmith
