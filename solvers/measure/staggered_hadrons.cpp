#include "solvers/measure/staggered_hadrons.hpp"

#include <bit>
#include <deque>

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

std::vector<Complex64> staggered_meson_sums(const StaggeredPropagator& a, const StaggeredPropagator& b,
                                            std::span<const StaggeredMeson> mesons, const MomentumPhases& phases,
                                            Communicator& communicator) {
  const Lattice& l = a.lattice;
  const auto values = [&](long long first, int sites, RowNumber* to) {
    for (int w = 0; w < sites; ++w) {
      const auto site = static_cast<std::size_t>(first + w);
      const Coordinates x = l.coordinates(first + w);
      int odd = 0;  // bits of odd coordinates; parts begin at even ones
      for (int mu = 0; mu < directions; ++mu) odd |= (x[mu] & 1) << mu;
      Complex64 sum = 0;
      for (int source = 0; source < 3; ++source)
        for (int sink = 0; sink < 3; ++sink) sum += b.site[site][source][sink] * std::conj(a.site[site][source][sink]);
      for (std::size_t k = 0; k < mesons.size(); ++k) {
        int sign = 0;
        for (const int bits : mesons[k].signs) sign += std::popcount(unsigned(bits & odd)) % 2 == 0 ? 1 : -1;
        to[k].re[w] = sign * sum.real();
        to[k].im[w] = sign * sum.imag();
      }
    }
  };
  return momentum_sums(l, phases, static_cast<int>(mesons.size()), values, communicator);
}

std::vector<Complex64> staggered_nucleon_sums(const StaggeredPropagator& s, const MomentumPhases& phases,
                                              Communicator& communicator) {
  const Lattice& l = s.lattice;
  const auto values = [&](long long first, int sites, RowNumber* to) {
    for (int w = 0; w < sites; ++w) {
      const Coordinates x = l.coordinates(first + w);
      if (((x[0] | x[1] | x[2]) & 1) != 0) continue;
      const auto& m = s.site[static_cast<std::size_t>(first + w)];
      Complex64 det = 0;
      for (int c = 0; c < 3; ++c) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        det += m[0][c] * (m[1][d] * m[2][e] - m[1][e] * m[2][d]);
      }
      to[0].re[w] = det.real();
      to[0].im[w] = det.imag();
    }
  };
  return momentum_sums(l, phases, 1, values, communicator);
}

}  // namespace quarksmith
