// Functions of 3x3 matrices by slow methods that converge to rounding.
#include <cmath>

#include "runtime/gauge.hpp"
#include "tests/reference/lattice_expression.hpp"

namespace reference {

using quarksmith::Complex64;
using quarksmith::Matrix3;

namespace {

Matrix3 scaled(Complex64 c, Matrix3 m) {
  for (Complex64& z : m) z *= c;
  return m;
}

Matrix3 sum(Matrix3 a, const Matrix3& b) {
  for (int n = 0; n < 9; ++n) a[n] += b[n];
  return a;
}

double size(const Matrix3& m) {
  double total = 0;
  for (const Complex64& z : m) total += std::norm(z);
  return std::sqrt(total);
}

constexpr Matrix3 one = {1, 0, 0, 0, 1, 0, 0, 0, 1};

Matrix3 inverse(const Matrix3& m) {
  Matrix3 cofactor;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      const auto e = [&](int i, int j) { return m[3 * ((r + i) % 3) + (c + j) % 3]; };
      cofactor[3 * c + r] = e(1, 1) * e(2, 2) - e(1, 2) * e(2, 1);
    }
  return scaled(1.0 / quarksmith::determinant(m), cofactor);
}

}  // namespace

Matrix3 algebra_part(const Matrix3& m) {
  const Matrix3 dagger = quarksmith::adjoint(m);
  Matrix3 a = scaled(0.5, sum(m, scaled(-1, dagger)));
  const Complex64 mean = (a[0] + a[4] + a[8]) / 3.0;
  for (int n = 0; n < 9; n += 4) a[n] -= mean;
  return a;
}

Matrix3 exponential(const Matrix3& m) {
  const int halvings = std::max(0, int(std::ceil(std::log2(size(m) + 1e-300))) + 3);
  const Matrix3 small = scaled(std::ldexp(1.0, -halvings), m);
  Matrix3 result = one, term = one;
  for (int n = 1; n <= 20; ++n) {
    term = scaled(1.0 / n, quarksmith::multiply(term, small));
    result = sum(result, term);
  }
  for (int n = 0; n < halvings; ++n) result = quarksmith::multiply(result, result);
  return result;
}

Matrix3 exponential_adjoint(const Matrix3& m, const Matrix3& c) {
  std::vector<Matrix3> power{one};
  constexpr int order = 30;
  for (int n = 1; n <= order; ++n) power.push_back(quarksmith::multiply(power.back(), m));
  Matrix3 total{};
  double weight = 1;  // 1/(j + k + 1)! of m^j c m^k
  for (int n = 0; n <= order; weight /= ++n + 1)
    for (int j = 0; j <= n; ++j)
      total = sum(total, scaled(weight, quarksmith::multiply(quarksmith::multiply(power[j], c), power[n - j])));
  return algebra_part(total);
}

Matrix3 closest_su3(const Matrix3& m) {
  Matrix3 u = m;  // polar part by Newton's iteration u <- (u + u^-+)/2, then a determinant of 1
  for (int n = 0; n < 60; ++n) u = scaled(0.5, sum(u, quarksmith::adjoint(inverse(u))));
  u = scaled(std::polar(1.0, -std::arg(quarksmith::determinant(u)) / 3), u);
  for (int n = 0; n < 3000; ++n) {
    const Matrix3 product = quarksmith::multiply(quarksmith::adjoint(u), m);
    const double trace = (product[0] + product[4] + product[8]).real();
    const Matrix3 step = scaled(2 / trace, algebra_part(product));
    if (size(step) < 1e-15) break;
    u = quarksmith::multiply(u, exponential(step));
  }
  return u;
}

}  // namespace reference
