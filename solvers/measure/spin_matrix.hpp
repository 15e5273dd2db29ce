/// \file
/// Spin matrices of correlators, in the basis in which propagators are kept.
#pragma once

#include <array>

#include "runtime/fields/field.hpp"

namespace quarksmith {

using Spin4 = std::array<std::array<Complex64, 4>, 4>;

Spin4 product(const Spin4& a, const Spin4& b);
Spin4 dagger(const Spin4& a);
Spin4 gamma(int mu);
/// Product of the gammas whose bits are set, in the order x, y, z, t.
Spin4 gamma_product(int bits);

/// A number times a product of gamma matrices.
struct GammaFactor {
  Complex64 factor;
  int number;
};
/// Product of two gamma matrices with their factors.
GammaFactor product_of_gammas(int left, int right);
/// Writes a matrix as a number times a product of gamma matrices. \throws std::logic_error that is not possible.
GammaFactor factor_of(const Spin4& m);

}  // namespace quarksmith
