#include "solvers/measure/spin_matrix.hpp"

#include <cmath>
#include <stdexcept>

#include "runtime/registry.hpp"

namespace quarksmith {

Spin4 product(const Spin4& a, const Spin4& b) {
  Spin4 c{};
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < 4; ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

Spin4 dagger(const Spin4& a) {
  Spin4 c;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[i][j] = std::conj(a[j][i]);
  return c;
}

Spin4 gamma(int mu) {
  const double* numbers = find_basis("degrand_rossi").gamma[mu];
  Spin4 g;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) g[i][j] = {numbers[2 * (4 * i + j)], numbers[2 * (4 * i + j) + 1]};
  return g;
}

Spin4 gamma_product(int bits) {
  Spin4 g{};
  for (int i = 0; i < 4; ++i) g[i][i] = 1;
  for (int mu = 0; mu < 4; ++mu)
    if (bits >> mu & 1) g = product(g, gamma(mu));
  return g;
}

GammaFactor product_of_gammas(int left, int right) {
  return factor_of(product(gamma_product(left), gamma_product(right)));
}

GammaFactor factor_of(const Spin4& m) {
  for (int number = 0; number < 16; ++number) {
    const Spin4 one = product(dagger(gamma_product(number)), m);
    bool same = true;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) same = same && std::abs(one[i][j] - (i == j ? one[0][0] : 0.0)) < 1e-12;
    if (same) return {one[0][0], number};
  }
  throw std::logic_error("a spin matrix is no multiple of a product of gamma matrices");
}

}  // namespace quarksmith
