#include "solvers/eigen/rayleigh_ritz.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quarksmith {
namespace {

/// Of a vector that is one of H already nothing but its residual is left of H v; of what is longer than this, relative
/// to H v, the partner of opposite sign is found.
constexpr double least_partner = 1e-6;

/// |A v - value v/factor|, whose vector is `image` then.
double residual_of(const LinearOperator& a, Complex64 factor, double value, const SpinorField& v, SpinorField& image) {
  const Blas blas(a);
  a.apply(image, v, Dagger::no);
  blas.axpby(-value / factor, v, Complex64(1), image);
  return std::sqrt(blas.norm2(image));
}

/// Takes what is left of the eigenvector with -lambda out of v, of i H: v becomes (H + lambda) v / (2 lambda), whose
/// residual is that of H^2 over 2 lambda. \param image holds i (H - lambda) v, which is orthogonal to v.
/// \return its new residual; `value` becomes the new Rayleigh quotient.
double leave_partner(const LinearOperator& root, double& value, SpinorField& v, SpinorField& image) {
  const Blas blas(root);
  blas.axpby(Complex64(0, -0.5 / value), image, Complex64(1), v);
  blas.scale(1 / std::sqrt(blas.norm2(v)), v, v);
  root.apply(image, v, Dagger::no);
  value = blas.dot(v, image).imag();
  return residual_of(root, Complex64(0, -1), value, v, image);
}

/// Eigenpairs of the operator in the space of orthonormal columns of x; values are those of `factor` A.
Eigenpairs diagonalise(const LinearOperator& a, Complex64 factor, const SpinorField& x, int columns,
                       const EigenOptions& options, BlockBlas& blas) {
  const int count = std::min(options.count, columns);
  const int block = 4;
  Dense h(columns, columns);
  SpinorField w = a.field(block);
  w.fill(0);
  for (int first = 0; first < columns; first += block) {
    const int width = std::min(block, columns - first);
    for (int n = 0; n < width; ++n) {
      SpinorField one = w.columns(n, 1);
      a.apply(one, x.columns(first + n, 1), Dagger::no);
    }
    h.middleCols(first, width) = factor * blas.dot(x, columns, w, width);
  }
  h = ((h + h.adjoint()) / 2).eval();
  const HermitianEigen eigen = eigen_of(h);
  std::vector<int> order(static_cast<std::size_t>(columns));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int i, int j) { return std::abs(eigen.values[i]) < std::abs(eigen.values[j]); });
  if (options.largest) order.erase(order.begin(), order.end() - count);
  Dense m(columns, count);
  Eigenpairs pairs{{}, {}, a.field(BlockBlas::padded(count))};
  for (int n = 0; n < count; ++n) {
    pairs.values.push_back(eigen.values[order[std::size_t(n)]]);
    m.col(n) = eigen.vectors.col(order[std::size_t(n)]);
  }
  blas.stage({&m});
  blas.product(x, pairs.vectors, m);
  SpinorField image = w.columns(0, 1);
  for (int n = 0; n < count; ++n) {
    SpinorField v = pairs.vectors.columns(n, 1);
    double& value = pairs.values[std::size_t(n)];
    double residual = residual_of(a, factor, value, v, image);
    const bool is_root = factor != 1.0, mixed = residual > options.tolerance;
    if (is_root && mixed && residual <= least_partner * std::abs(value)) residual = leave_partner(a, value, v, image);
    pairs.residuals.push_back(residual);
  }
  pairs.vectors = pairs.vectors.columns(0, count);
  return pairs;
}

}  // namespace

Eigenpairs rayleigh_ritz(const LinearOperator& a, KrylovSpace& space, const EigenOptions& options) {
  return diagonalise(a, 1, space.basis(), space.locked(), options, space.block_blas());
}

Eigenpairs rayleigh_ritz_of_root(const LinearOperator& root, KrylovSpace& space, const EigenOptions& options) {
  const Blas blas(root);
  SpinorField image = root.field();
  for (int n = 0, all = space.locked(); n < all; ++n) {
    root.apply(image, space.basis().columns(n, 1), Dagger::no);
    space.lock_rest(image, least_partner * std::sqrt(blas.norm2(image)));
  }
  return diagonalise(root, Complex64(0, -1), space.basis(), space.locked(), options, space.block_blas());
}

}  // namespace quarksmith
