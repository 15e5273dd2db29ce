#include "tests/reference/square.hpp"

#include <cmath>
#include <utility>

namespace reference {

using quarksmith::Complex64;

namespace {

/// Brings x to 1 and y along. \return log |det x|
double eliminate(Square& x, Square& y) {
  double log_det = 0;
  for (int k = 0; k < x.n; ++k) {
    int pivot = k;
    for (int i = k; i < x.n; ++i)
      if (std::abs(x(i, k)) > std::abs(x(pivot, k))) pivot = i;
    const Complex64 scale = 1.0 / x(pivot, k);
    log_det -= std::log(std::abs(scale));
    for (Square* m : {&x, &y})
      for (int j = 0; j < x.n; ++j) {
        std::swap((*m)(k, j), (*m)(pivot, j));
        (*m)(k, j) *= scale;
      }
    for (int i = 0; i < x.n; ++i) {
      const Complex64 factor = x(i, k);
      for (Square* m : {&x, &y})
        for (int j = 0; i != k && j < x.n; ++j) (*m)(i, j) -= factor * (*m)(k, j);
    }
  }
  return log_det;
}

}  // namespace

Square unit(int n, Complex64 z) {
  Square one{n};
  for (int i = 0; i < n; ++i) one(i, i) = z;
  return one;
}

Square sum_of(Complex64 a, const Square& x, Complex64 b, const Square& y) {
  Square s{x.n};
  for (std::size_t k = 0; k < s.element.size(); ++k) s.element[k] = a * x.element[k] + b * y.element[k];
  return s;
}

Square product(const Square& x, const Square& y) {
  Square p{x.n};
  for (int i = 0; i < x.n; ++i)
    for (int k = 0; k < x.n; ++k)
      for (int j = 0; j < x.n; ++j) p(i, j) += x(i, k) * y(k, j);
  return p;
}

Square adjoint(const Square& x) {
  Square c{x.n};
  for (int i = 0; i < x.n; ++i)
    for (int j = 0; j < x.n; ++j) c(i, j) = std::conj(x(j, i));
  return c;
}

Square inverse(Square x) {
  Square y = unit(x.n);
  eliminate(x, y);
  return y;
}

double log_abs_det(Square x) {
  Square y = unit(x.n);
  return eliminate(x, y);
}

Square matrix_exponential(const Square& x) {
  constexpr int squarings = 8;
  Square power = unit(x.n), sum = power;
  for (int k = 1; k < 20; ++k) {
    power = product(power, sum_of(std::ldexp(1.0 / k, -squarings), x, 0, x));
    sum = sum_of(1, sum, 1, power);
  }
  for (int k = 0; k < squarings; ++k) sum = product(sum, sum);
  return sum;
}

double largest_of(const Square& x) {
  double largest = 0;
  for (const Complex64& z : x.element) largest = std::max(largest, std::isnan(std::abs(z)) ? INFINITY : std::abs(z));
  return largest;
}

}  // namespace reference
