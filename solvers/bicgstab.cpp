#include "solvers/bicgstab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "solvers/blas.hpp"

namespace quarksmith {
namespace {

/// The vectors of one run.
struct Work {
  SpinorField r, shadow, p, v, t;
};

bool usable(Complex64 z) { return std::isfinite(std::norm(z)) && std::norm(z) > 0; }

/// Iterates from the residual in work.r until |r| <= target; returns |r|. Ends early on a breakdown.
double iterate(const LinearOperator& a, const Blas& blas, SpinorField& x, Work& w, double target, double b_norm,
               const SolverOptions& options, SolverResult& result) {
  w.shadow.copy_from(w.r);
  w.p.copy_from(w.r);
  Complex64 rho = blas.norm2(w.r);
  double r_norm = std::sqrt(rho.real());
  while (r_norm > target && result.iterations < options.max_iterations) {
    a.apply(w.v, w.p, Dagger::no);
    const Complex64 sigma = blas.dot(w.shadow, w.v);
    const Complex64 alpha = rho / sigma;
    if (!usable(sigma) || !usable(alpha)) break;
    blas.bicgstab_half_step(alpha, w.v, w.r);  // s = r - alpha v, kept in r
    a.apply(w.t, w.r, Dagger::no);
    result.applications += 2;
    const auto [ts, tt] = blas.bicgstab_omega(w.t, w.r);
    if (!(tt > 0)) {  // s is zero: the half step was exact
      blas.bicgstab_step(alpha, w.p, 0, w.r, x);
      r_norm = 0;
      break;
    }
    const Complex64 omega = ts / tt;                                               // (t, s) / (t, t)
    blas.bicgstab_step(alpha, w.p, omega, w.r, x);                                 // x += alpha p + omega s
    const auto [rr, rho_new] = blas.bicgstab_residual(omega, w.t, w.r, w.shadow);  // r = s - omega t
    r_norm = std::sqrt(rr);
    ++result.iterations;
    if (options.observer) options.observer(result.iterations, r_norm / b_norm);
    const Complex64 beta = rho_new / rho * (alpha / omega);
    if (!usable(rho_new) || !usable(omega) || !usable(beta)) break;
    blas.bicgstab_direction(w.r, beta, w.p, omega, w.v);  // p = r + beta (p - omega v)
    rho = rho_new;
  }
  return r_norm;
}

}  // namespace

SolverResult bicgstab(const LinearOperator& a, SpinorField& x, const SpinorField& b, const SolverOptions& options) {
  const Blas blas(b.device(), b.precision());
  SolverResult result;
  const double b_norm = std::sqrt(blas.norm2(b));
  if (b_norm == 0) {
    x.fill(0);
    result.converged = true;
    return result;
  }
  Work work{b.like(), b.like(), b.like(), b.like(), b.like()};
  double previous = INFINITY;
  while (true) {
    a.apply(work.r, x, Dagger::no);
    ++result.applications;
    result.residual = std::sqrt(blas.residual(b, work.r)) / b_norm;  // r = b - A x
    if (!std::isfinite(result.residual))
      throw Error(
          fmt::format("BiCGstab: the residual is not finite after {} iterations; check links and mass, or use cg",
                      result.iterations));
    result.converged = result.residual <= options.tolerance;
    // A restart that gains less than a tenth has met the limit of the precision.
    if (result.converged || result.iterations >= options.max_iterations || result.residual > 0.9 * previous) break;
    previous = result.residual;
    iterate(a, blas, x, work, 0.9 * options.tolerance * b_norm, b_norm, options, result);
  }
  return result;
}

}  // namespace quarksmith
