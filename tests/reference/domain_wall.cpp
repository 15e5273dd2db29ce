#include "tests/reference/domain_wall.hpp"

namespace reference {

SpinMatrix chiral_projector(int sign) { return 0.5 * (identity() + Complex64(sign) * gamma5()); }

Square shift_rows(const std::vector<Complex64>& alpha, const std::vector<Complex64>& beta, Complex64 corner, int sign) {
  const int slices = static_cast<int>(alpha.size());
  Square m{slices};
  for (int s = 0; s < slices; ++s) {
    const int from = s - sign;
    m(s, s) += alpha[s];
    m(s, (from + slices) % slices) += beta[s] * (from < 0 || from >= slices ? corner : 1.0);
  }
  return m;
}

Slices multiply(const Square& minus, const Square& plus, const Slices& psi) {
  const SpinMatrix p_minus = chiral_projector(-1), p_plus = chiral_projector(+1);
  Slices out;
  for (int s = 0; s < minus.n; ++s) {
    HostSpinor sum(psi[0].lattice);
    for (int t = 0; t < minus.n; ++t)
      sum = combine(1, sum, 1, multiply(minus(s, t) * p_minus + plus(s, t) * p_plus, psi[std::size_t(t)]));
    out.push_back(sum);
  }
  return out;
}

HostSpinor wall_wilson(const HostGauge& gauge, const HostSpinor& psi, const Moebius& p, bool dagger) {
  return combine(4 - p.m5, psi, -0.5, hopping(gauge, psi, wilson_hops(dagger), p.coefficients));
}

Slices domain_wall(const HostGauge& gauge, const Slices& psi, const Moebius& p, bool dagger) {
  const int slices = p.slices();
  const std::vector<Complex64> zero(slices), one(slices, 1);
  // D_5 = D_W (b + c R) + (1 - R)
  const auto apply = [&](const std::vector<Complex64>& alpha, const std::vector<Complex64>& beta, const Slices& x) {
    Square minus = shift_rows(alpha, beta, -p.mass, -1), plus = shift_rows(alpha, beta, -p.mass, +1);
    return dagger ? multiply(adjoint(minus), adjoint(plus), x) : multiply(minus, plus, x);
  };
  const auto wilson = [&](const Slices& x) {
    Slices y;
    for (const HostSpinor& slice : x) y.push_back(wall_wilson(gauge, slice, p, dagger));
    return y;
  };
  const Slices hop = dagger ? apply(p.b, p.c, wilson(psi)) : wilson(apply(p.b, p.c, psi));
  const Slices rest = apply(one, std::vector<Complex64>(slices, -1), psi);
  Slices out;
  for (int s = 0; s < slices; ++s) out.push_back(combine(1, hop[s], 1, rest[s]));
  return out;
}

}  // namespace reference
