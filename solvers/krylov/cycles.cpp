#include "solvers/krylov/cycles.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "solvers/krylov/block_blas.hpp"
#include "solvers/krylov/column.hpp"

namespace quarksmith {

CycleSolver::CycleSolver(const ImproverSetting& s)
    : outer_(&s.outer),
      inner_(&s.inner),
      least_(&s.outer.precision() == &s.inner.precision()
                 ? attainable(s.deviation)
                 : std::max(attainable(s.inner.precision()), attainable(s.deviation))),
      blas_(s.outer),
      inner_blas_(s.inner),
      convert_(s.outer, s.outer.precision(), s.inner.precision(), 1),
      r_(s.outer.field(BlockBlas::padded(1))),
      d_(r_.like()),
      x_(s.outer.field()) {
  r_.fill(0);
  d_.fill(0);
}

void CycleSolver::Course::count(double norm) {
  ++result.iterations;
  const double residual = norm / b_measure;
  if (options.rhs_observer) options.rhs_observer(rhs, result.iterations, residual);
  if (options.observer) options.observer(result.iterations, residual);
}

std::vector<SolverResult> CycleSolver::improve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                               const std::vector<double>& tolerances) {
  std::vector<SolverResult> results(b.rhs());
  for (int n = 0; n < b.rhs(); ++n) {
    Course course{.rhs = n, .options = options, .result = results[n], .tolerance = tolerances[n]};
    course.result.vectors = vectors();
    solve(x.columns(n, 1), b.columns(n, 1), course);
  }
  return results;
}

void CycleSolver::solve(SpinorField x, const SpinorField& b, Course& c) {
  c.b_norm = c.b_measure = std::sqrt(blas_.norm2(b));
  if (c.b_norm == 0) return;
  SpinorField d = d_.columns(0, 1);
  if (c.normal()) {
    outer_->apply(d, b, Dagger::yes);
    ++c.result.exact_applications;
    c.b_measure = std::sqrt(blas_.norm2(d));
  }
  if (!measure(x, b, c)) return;
  for (double before = INFINITY; c.result.measured < 0.5 * before && !c.at_limit(); c.first = false) {
    before = c.result.measured;
    if (!cycle(x, b, c)) break;
  }
  const double start = now();
  learn(c);
  seconds_ += now() - start;
}

/// \return true if the residual became smaller, and misses its tolerance.
bool CycleSolver::cycle(SpinorField& x, const SpinorField& b, Course& c) {
  const double norm = c.r_norm, start = now();
  correct(d_, r_, c);
  seconds_ += now() - start;
  ++c.result.replacements;
  x_.copy_from(x);
  blas_.axpby(1.0, d_.columns(0, 1), 1.0, x);
  const bool open = measure(x, b, c);
  if (c.r_norm <= norm) return open;
  c.result.events.push_back(
      {c.result.iterations, "the correction of a cycle did not make the residual smaller; left out"});
  x.copy_from(x_);
  measure(x, b, c);
  return false;
}

/// The true residual. \return true if it misses the tolerance.
bool CycleSolver::measure(const SpinorField& x, const SpinorField& b, Course& c) {
  SpinorField r = r_.columns(0, 1), s = d_.columns(0, 1);
  outer_->apply(r, x, Dagger::no);
  c.r_norm = std::sqrt(blas_.residual(b, r));
  double measured = c.r_norm;
  if (c.normal()) {
    outer_->apply(s, r, Dagger::yes);
    measured = std::sqrt(blas_.norm2(s));
  }
  SolverResult& result = c.result;
  result.exact_applications += c.normal() ? 2 : 1;
  result.residual = c.r_norm / c.b_norm;
  result.measured = measured / c.b_measure;
  result.converged = result.measured <= c.tolerance;
  return !result.converged && std::isfinite(result.measured);
}

}  // namespace quarksmith
