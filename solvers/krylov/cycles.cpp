#include "solvers/krylov/cycles.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "solvers/krylov/block_blas.hpp"
#include "solvers/krylov/column.hpp"

namespace quarksmith {

CycleSolver::CycleSolver(const OuterSolverSetting& s, int together, bool squared)
    : outer_(&s.outer),
      inner_(&s.inner),
      least_(&s.outer.precision() == &s.inner.precision()
                 ? attainable(s.deviation)
                 : std::max(attainable(s.inner.precision()), attainable(s.deviation))),
      blas_(s.outer),
      convert_(s.outer, s.outer.precision(), s.inner.precision(), 1),
      together_(together),
      squared_(squared),
      r_(s.outer.field(std::max(together, BlockBlas::padded(1)))),
      d_(r_.like()) {
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
  for (int first = 0; first < b.rhs(); first += together_) {
    const int count = std::min(together_, b.rhs() - first);
    std::vector<Course> group;
    for (int n = first; n < first + count; ++n) {
      group.push_back({.rhs = n, .options = options, .result = results[n], .tolerance = tolerances[n]});
      results[n].vectors = vectors();
    }
    solve(x.columns(first, count), b.columns(first, count), group);
  }
  return results;
}

void CycleSolver::solve(SpinorField x, const SpinorField& b, Courses group) {
  const bool normal = group[0].normal();
  const std::vector<double> norms = roots(blas_.norms2(b));
  std::vector<double> measures = norms;
  if (normal) {
    SpinorField s = d_.columns(0, b.rhs());
    outer_->apply(s, b, Dagger::yes);
    measures = roots(blas_.norms2(s));
  }
  for (int n = 0; n < b.rhs(); ++n) {
    Course& c = group[n];
    c.b_norm = norms[n];
    c.b_measure = measures[n];
    c.result.exact_applications += normal && c.b_norm > 0;
  }
  if (!judge(residuals(x, b, group), group)) return;
  for (double before = INFINITY;;) {
    double worst = 0;
    for (const Course& c : group)
      if (c.open) worst = std::max(worst, c.result.measured / c.tolerance);
    const Course& open = *std::ranges::find_if(group, &Course::open);
    if (!(worst < 0.5 * before) || open.at_limit() || !cycle(x, b, group)) break;
    before = worst;
  }
  const double start = now();
  for (Course& c : group) learn(c);
  seconds_ += now() - start;
}

/// Applies the corrections of one cycle. \return true if a tolerance is still missed.
bool CycleSolver::cycle(SpinorField& x, const SpinorField& b, Courses group) {
  const double start = now();
  correct(d_, r_, group);
  seconds_ += now() - start;
  for (int n = 0; n < b.rhs(); ++n) {
    SpinorField d = d_.columns(n, 1);
    group[n].open ? blas_.axpby(1.0, x.columns(n, 1), 1.0, d) : d.copy_from(x.columns(n, 1));
  }
  const std::vector<double> norms = residuals(d_.columns(0, b.rhs()), b, group);
  bool smaller = true;
  for (int n = 0; n < b.rhs(); ++n) {
    Course& c = group[n];
    if (!c.open) continue;
    c.first = false;
    ++c.result.replacements;
    if (norms[n] <= c.r_norm) {
      x.columns(n, 1).copy_from(d_.columns(n, 1));
    } else {
      smaller = false;
      c.result.events.push_back(
          {c.result.iterations, "the correction of a cycle did not make the residual smaller; left out"});
    }
  }
  return judge(smaller ? norms : residuals(x, b, group), group);
}

/// r = b - A x. \return |r| of each.
std::vector<double> CycleSolver::residuals(const SpinorField& x, const SpinorField& b, Courses group) {
  SpinorField r = r_.columns(0, b.rhs());
  outer_->apply(r, x, Dagger::no);
  for (Course& c : group) c.result.exact_applications += c.b_norm > 0;
  return roots(blas_.residuals(b, r));
}

/// Compares the residuals with the tolerances; leaves A^+ r in d_ if that is needed. \return true if one is missed.
bool CycleSolver::judge(const std::vector<double>& residuals, Courses group) {
  const int count = static_cast<int>(group.size());
  const bool normal = group[0].normal(), squared = normal || squared_;
  std::vector<double> s_norms(count);
  if (squared) {
    SpinorField s = d_.columns(0, count);
    outer_->apply(s, r_.columns(0, count), Dagger::yes);
    s_norms = roots(blas_.norms2(s));
  }
  for (int n = 0; n < count; ++n) {
    Course& c = group[n];
    if (c.b_norm == 0) continue;
    c.r_norm = residuals[n];
    c.s_norm = s_norms[n];
    SolverResult& result = c.result;
    result.exact_applications += squared;
    result.residual = c.r_norm / c.b_norm;
    result.measured = (normal ? c.s_norm : c.r_norm) / c.b_measure;
    result.converged = result.measured <= c.tolerance;
    c.open = !result.converged && std::isfinite(result.measured);
  }
  return std::ranges::any_of(group, &Course::open);
}

}  // namespace quarksmith
