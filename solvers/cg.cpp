#include "solvers/cg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "solvers/blas.hpp"

namespace quarksmith {
namespace {

/// r = b - A x; returns |r|.
double true_residual(const LinearOperator& a, const Blas& blas, SpinorField& r, const SpinorField& x,
                     const SpinorField& b) {
  a.apply(r, x, Dagger::no);
  return std::sqrt(blas.residual(b, r));
}

}  // namespace

SolverResult cg_normal(const LinearOperator& a, SpinorField& x, const SpinorField& b, const SolverOptions& options) {
  const Blas blas(b.device(), b.precision());
  SolverResult result;
  const double b_norm = std::sqrt(blas.norm2(b));
  if (b_norm == 0) {
    x.fill(0);
    result.converged = true;
    return result;
  }
  SpinorField r = b.like(), s = b.like(), p = b.like(), q = b.like(), w = b.like();
  result.residual = true_residual(a, blas, r, x, b) / b_norm;
  a.apply(s, r, Dagger::yes);  // s = A^+ (b - A x)
  result.applications = 2;
  p.copy_from(s);
  double s_norm2 = blas.norm2(s);
  double target = std::sqrt(s_norm2) * std::min(1.0, options.tolerance / result.residual);
  double scale = result.residual / std::sqrt(s_norm2);  // estimates |r| from |s| between recomputations

  while (result.residual > options.tolerance && result.iterations < options.max_iterations) {
    a.apply(w, p, Dagger::no);
    a.apply(q, w, Dagger::yes);
    result.applications += 2;
    const double alpha = s_norm2 / blas.norm2(w);          // (s, s) / (p, A^+ A p)
    const double s_new = blas.cg_step(alpha, p, x, q, s);  // x += alpha p;  s -= alpha q
    blas.axpby(1.0, s, s_new / s_norm2, p);                // p = s + (s', s') / (s, s) p
    s_norm2 = s_new;
    ++result.iterations;
    if (!std::isfinite(s_norm2))
      throw Error(fmt::format("conjugate gradients: the residual of iteration {} is not finite; check links and mass",
                              result.iterations));
    if (options.observer) options.observer(result.iterations, scale * std::sqrt(s_norm2));
    if (std::sqrt(s_norm2) > target) continue;
    const double before = result.residual;
    result.residual = true_residual(a, blas, r, x, b) / b_norm;
    ++result.applications;
    if (result.residual > options.tolerance && result.residual > 0.9 * before) break;  // the precision is exhausted
    scale = result.residual / std::sqrt(s_norm2);
    target = std::sqrt(s_norm2) * std::max(0.1, 0.5 * options.tolerance / result.residual);
  }
  if (result.iterations == options.max_iterations) result.residual = true_residual(a, blas, r, x, b) / b_norm;
  result.converged = result.residual <= options.tolerance;
  return result;
}

}  // namespace quarksmith
