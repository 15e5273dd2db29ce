/// \file
/// Small dense matrices, plain complex double.
#pragma once

#include <vector>

#include "runtime/fields/field.hpp"

namespace reference {

/// Row by row.
struct Square {
  int n;
  std::vector<quarksmith::Complex64> element = std::vector<quarksmith::Complex64>(std::size_t(n) * std::size_t(n));
  quarksmith::Complex64& operator()(int i, int j) { return element[std::size_t(n * i + j)]; }
  const quarksmith::Complex64& operator()(int i, int j) const { return element[std::size_t(n * i + j)]; }
};

/// z times 1.
Square unit(int n, quarksmith::Complex64 z = 1);
/// a x + b y
Square sum_of(quarksmith::Complex64 a, const Square& x, quarksmith::Complex64 b, const Square& y);
Square product(const Square& x, const Square& y);
Square adjoint(const Square& x);
/// By Gaussian elimination with the largest element of each column, as that of log |det x|.
Square inverse(Square x);
double log_abs_det(Square x);
/// By its series, scaled and squared.
Square matrix_exponential(const Square& x);
/// The largest modulus of an element; infinite if one is not a number.
double largest_of(const Square& x);

}  // namespace reference
