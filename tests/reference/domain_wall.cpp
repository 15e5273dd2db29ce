#include "tests/reference/domain_wall.hpp"

#include <utility>

namespace reference {

SpinMatrix chiral_projector(int sign) { return 0.5 * (identity() + Complex64(sign) * gamma5()); }

SliceRows zero_rows(int slices) { return SliceRows(slices, std::vector<Complex64>(slices)); }

SliceRows product(const SliceRows& a, const SliceRows& b) {
  SliceRows c = zero_rows(static_cast<int>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j)
      for (std::size_t k = 0; k < a.size(); ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

SliceRows adjoint(const SliceRows& a) {
  SliceRows c = zero_rows(static_cast<int>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) c[i][j] = std::conj(a[j][i]);
  return c;
}

SliceRows inverse(SliceRows a) {
  const std::size_t n = a.size();
  SliceRows b = zero_rows(static_cast<int>(n));
  for (std::size_t i = 0; i < n; ++i) b[i][i] = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    const Complex64 scale = 1.0 / a[k][k];
    for (std::size_t j = 0; j < n; ++j) {
      a[k][j] *= scale;
      b[k][j] *= scale;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Complex64 factor = a[i][k];
      for (std::size_t j = 0; j < n; ++j) {
        a[i][j] -= factor * a[k][j];
        b[i][j] -= factor * b[k][j];
      }
    }
  }
  return b;
}

SliceRows shift_rows(const std::vector<Complex64>& alpha, const std::vector<Complex64>& beta, Complex64 corner,
                     int sign) {
  const int slices = static_cast<int>(alpha.size());
  SliceRows m = zero_rows(slices);
  for (int s = 0; s < slices; ++s) {
    const int from = s - sign;
    m[s][s] += alpha[s];
    m[s][(from + slices) % slices] += beta[s] * (from < 0 || from >= slices ? corner : 1.0);
  }
  return m;
}

Slices multiply(const SliceRows& minus, const SliceRows& plus, const Slices& psi) {
  const SpinMatrix p_minus = chiral_projector(-1), p_plus = chiral_projector(+1);
  Slices out;
  for (std::size_t s = 0; s < psi.size(); ++s) {
    HostSpinor sum(psi[0].lattice);
    for (std::size_t t = 0; t < psi.size(); ++t)
      sum = combine(1, sum, 1, multiply(minus[s][t] * p_minus + plus[s][t] * p_plus, psi[t]));
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
    SliceRows minus = shift_rows(alpha, beta, -p.mass, -1), plus = shift_rows(alpha, beta, -p.mass, +1);
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
