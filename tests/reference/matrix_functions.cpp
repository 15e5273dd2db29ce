// Functions of 3x3 matrices by slow methods that converge to rounding.
#include <cmath>

#include "runtime/fields/gauge.hpp"
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

Matrix3 polar_part(Matrix3 u) {
  for (int n = 0; n < 60; ++n) u = scaled(0.5, sum(u, quarksmith::adjoint(inverse(u))));
  return u;
}

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

Matrix3 nearest_unitary_adjoint(const Matrix3& m, const Matrix3& c) {
  using quarksmith::adjoint, quarksmith::multiply;
  const Matrix3 w = polar_part(m), h = multiply(adjoint(w), m), cw = multiply(c, w);
  const Matrix3 b = scaled(0.5, sum(cw, scaled(-1, adjoint(cw))));
  const double step = 1 / (64 * size(h));
  Matrix3 y{};  // up to t = step by the double series
  for (int n = 0; n < 12; ++n)
    for (int j = 0; j <= n; ++j) {
      Matrix3 term = scaled(std::pow(-step, n) * step / (std::tgamma(j + 1) * std::tgamma(n - j + 1) * (n + 1)), b);
      for (int k = 0; k < n; ++k) term = k < j ? multiply(h, term) : multiply(term, h);
      y = sum(y, term);
    }
  Matrix3 decay = exponential(scaled(-step, h));
  for (int n = 0; n < 60; ++n) {
    y = sum(y, multiply(multiply(decay, y), decay));
    decay = multiply(decay, decay);
  }
  return scaled(2, multiply(y, adjoint(w)));
}

bool has_small_eigenvalues(const Matrix3& m) { return std::pow(size(inverse(m)), 2) > 1 / 5e-5; }

Matrix3 closest_su3(const Matrix3& m) {
  Matrix3 u = polar_part(m);
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

Matrix3 relaxed(const Matrix3& m, double boost) {
  Matrix3 u{};
  for (int i = 0; i < 3; ++i) u[4 * i] = 1;
  constexpr int subgroups[3][2] = {{0, 1}, {1, 2}, {0, 2}};
  for (const auto& [p, q] : subgroups) {
    const Matrix3 d = quarksmith::multiply(u, m);
    // The part of the block in SU(2), a_0 + i a.sigma; its adjoint is the hit.
    const double a0 = (d[4 * p] + d[4 * q]).real(), a3 = (d[4 * p] - d[4 * q]).imag(),
                 a1 = (d[3 * p + q] + d[3 * q + p]).imag(), a2 = (d[3 * p + q] - d[3 * q + p]).real();
    const double square = a1 * a1 + a2 * a2 + a3 * a3, x = (boost * a0 * a0 + square) / (a0 * a0 + square);
    const double norm = std::sqrt(a0 * a0 + x * x * square);
    Matrix3 hit{};
    for (int i = 0; i < 3; ++i) hit[4 * i] = 1;
    hit[4 * p] = Complex64(a0, -x * a3) / norm;
    hit[4 * q] = Complex64(a0, x * a3) / norm;
    hit[3 * p + q] = Complex64(-x * a2, -x * a1) / norm;
    hit[3 * q + p] = Complex64(x * a2, -x * a1) / norm;
    u = quarksmith::multiply(hit, u);
  }
  return u;
}

}  // namespace reference
