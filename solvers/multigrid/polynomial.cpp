#include "solvers/multigrid/polynomial.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/harmonic.hpp"
#include "solvers/multigrid/noise.hpp"

namespace quarksmith {
namespace {

using Matrix = Eigen::MatrixXcd;

/// The Hessenberg matrix of `degree` steps of Arnoldi's process from noise, with one row more than columns.
Matrix hessenberg_of(const LinearOperator& a, const BasisInfo& basis, int degree) {
  SpinorField v = a.field(degree + 1);
  const Blas blas(v);
  SpinorField noise = v.columns(0, 1);
  draw(noise, basis, 2);
  blas.scale(1 / std::sqrt(blas.norm2(noise)), noise, noise);
  Matrix h = Matrix::Zero(degree + 1, degree);
  for (int j = 0; j < degree; ++j) {
    SpinorField next = v.columns(j + 1, 1);
    a.apply(next, v.columns(j, 1), Dagger::no);
    for (int i = 0; i <= j; ++i) {
      const SpinorField before = v.columns(i, 1);
      h(i, j) = blas.dot(before, next);
      blas.axpby(-h(i, j), before, Complex64(1), next);
    }
    const double size = std::sqrt(blas.norm2(next));
    h(j + 1, j) = size;
    blas.scale(1 / size, next, next);
  }
  return h;
}

/// Each next one has the largest product of distances from those before.
std::vector<Complex64> in_leja_order(std::vector<Complex64> roots) {
  for (std::size_t n = 0; n < roots.size(); ++n) {
    const auto weight = [&](const Complex64& z) {
      double sum = n == 0 ? std::log(std::abs(z)) : 0;
      for (std::size_t k = 0; k < n; ++k) sum += std::log(std::abs(z - roots[k]));
      return sum;
    };
    std::iter_swap(roots.begin() + std::ptrdiff_t(n),
                   std::max_element(roots.begin() + std::ptrdiff_t(n), roots.end(),
                                    [&](const auto& x, const auto& y) { return weight(x) < weight(y); }));
  }
  return roots;
}

}  // namespace

std::vector<Complex64> smoothing_roots(const LinearOperator& a, const BasisInfo& basis, int degree) {
  const Matrix all = hessenberg_of(a, basis, degree);
  const Eigen::VectorXcd values = Harmonic(all).values;
  std::vector<Complex64> roots(values.data(), values.data() + degree);
  for (const Complex64& root : roots)
    if (!std::isfinite(std::abs(root)) || std::abs(root) < 1e-3 * all.norm() / degree)
      throw Error("multigrid: no polynomial smooths this operator; use smoother = \"mr\"");
  return in_leja_order(std::move(roots));
}

PolynomialSmoother::PolynomialSmoother(const LinearOperator& a, std::vector<Complex64> roots, int rhs)
    : a_(&a), roots_(std::move(roots)), blas_(a), product_(a.field(rhs)) {}

void PolynomialSmoother::apply(SpinorField& out, const SpinorField& in, int width) {
  const SpinorField b = in.columns(0, width);
  SpinorField x = out.columns(0, width), product = product_.columns(0, width);
  x.fill(0);
  blas_.axpby(1.0 / roots_[0], b, Complex64(1), x);
  for (std::size_t k = 1; k < roots_.size(); ++k) {
    a_->apply(product, x, Dagger::no);
    blas_.add_difference(1.0 / roots_[k], b, product, x);
  }
}

}  // namespace quarksmith
