#include "solvers/krylov/block_cg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "solvers/krylov/column.hpp"

namespace quarksmith {
namespace {

constexpr int most_blocks = 20;      ///< blocks that follow each other
constexpr int block_patience = 200;  ///< iterations without a new least residual after which a block ends
/// Pivots below which columns of unit length count as dependent: what is left of them would be rounding.
constexpr double least_pivot = 1e-12;

/// Euclidean norm of each column.
std::vector<double> column_norms(const Dense& a) {
  std::vector<double> norms;
  for (int j = 0; j < a.cols(); ++j) norms.push_back(a.col(j).norm());
  return norms;
}

}  // namespace

/// The right-hand sides of a block.
struct BlockConjugateGradients::Columns {
  SpinorField x, b;
  const SolverOptions& options;
  std::vector<double> tolerance;
  std::vector<SolverResult>& results;
  int first;                         ///< number of the first in `results`
  std::vector<double> b_measure;     ///< |b|, or |A^+ b|
  std::vector<double> b_norm, norm;  ///< |b|; |A^+ r|
  std::vector<int> open = {};        ///< that miss their tolerance
  std::vector<double> target = {};   ///< of those: |A^+ r| of the recurrence
};

BlockConjugateGradients::BlockConjugateGradients(const LinearOperator& outer, const LinearOperator& inner, int rhs,
                                                 double deviation)
    : outer_(&outer),
      normal_(inner, BlockBlas::padded(std::min(rhs, most))),
      capacity_(BlockBlas::padded(std::min(rhs, most))),
      least_(&outer.precision() == &inner.precision() ? attainable(deviation)
                                                      : std::max(attainable(inner.precision()), attainable(deviation))),
      blas_(outer),
      x_(inner.field(capacity_)),
      q_(x_.like()),
      p_(x_.like()),
      v_(x_.like()),
      w_(x_.like()),
      r_(outer.field(std::min(rhs, most))),
      s_(r_.like()),
      block_blas_(inner, std::size_t(capacity_) * capacity_, 2),
      convert_(outer, outer.precision(), inner.precision(), 1) {
  if (outer.spins() != 4) throw UsageError("block-cg works on Dirac spinors; use cg");
  for (SpinorField* f : {&x_, &q_, &p_, &v_, &w_}) f->fill(0);
}

std::vector<SolverResult> BlockConjugateGradients::improve(SpinorField& x, const SpinorField& b,
                                                           const SolverOptions& options,
                                                           const std::vector<double>& tolerances) {
  std::vector<SolverResult> results(b.rhs());
  for (int first = 0; first < b.rhs(); first += r_.rhs()) {
    const int count = std::min(r_.rhs(), b.rhs() - first);
    Columns all{x.columns(first, count),
                b.columns(first, count),
                options,
                {tolerances.begin() + first, tolerances.begin() + first + count},
                results,
                first,
                {},
                roots(blas_.norms2(b.columns(first, count))),
                {}};
    all.b_measure = all.b_norm;
    if (options.criterion == Criterion::normal) {
      SpinorField s = s_.columns(0, count);
      outer_->apply(s, all.b, Dagger::yes);
      all.b_measure = roots(blas_.norms2(s));
    }
    improve_block(all);
  }
  return results;
}

void BlockConjugateGradients::improve_block(Columns& all) {
  double before = INFINITY;
  for (int block = 0; block < most_blocks && measure(all); ++block) {
    double worst = 0;
    for (const int n : all.open) {
      const SolverResult& r = all.results[all.first + n];
      worst = std::max(worst, r.measured / all.tolerance[n]);
    }
    const int done = all.results[all.first + all.open[0]].iterations;
    if (!(worst < 0.5 * before) || done >= all.options.max_iterations) return;
    before = worst;
    if (!begin(all)) return;
    const double start = now();
    const int iterations = iterate(all);
    seconds_ += now() - start;
    for (const int n : all.open) {
      SolverResult& r = all.results[all.first + n];
      r.iterations += iterations;
      r.applications += 2 * iterations;
      ++r.replacements;
    }
    correct(all);
  }
}

/// True residuals. \return true if a column misses its tolerance.
bool BlockConjugateGradients::measure(Columns& all) {
  const int count = all.x.rhs();
  SpinorField r = r_.columns(0, count), s = s_.columns(0, count);
  outer_->apply(r, all.x, Dagger::no);
  const std::vector<double> norms = roots(blas_.residuals(all.b, r));
  outer_->apply(s, r, Dagger::yes);
  all.norm = roots(blas_.norms2(s));
  all.open.clear();
  all.target.clear();
  for (int n = 0; n < count; ++n) {
    if (all.b_norm[n] == 0) continue;
    SolverResult& result = all.results[all.first + n];
    const bool normal = all.options.criterion == Criterion::normal;
    result.exact_applications += 2;
    result.residual = norms[n] / all.b_norm[n];
    result.measured = (normal ? all.norm[n] : norms[n]) / all.b_measure[n];
    result.converged = result.measured <= all.tolerance[n];
    if (result.converged || !std::isfinite(result.measured)) continue;
    all.open.push_back(n);
    // A little below the tolerance: the recurrence has its own residual, perhaps in another norm.
    const double factor = (normal ? 0.95 : 0.8) * all.tolerance[n] / result.measured;
    all.target.push_back(std::max(factor, least_) * all.norm[n]);
  }
  return !all.open.empty();
}

/// Q, C and P of the open columns from their residuals.
bool BlockConjugateGradients::begin(Columns& all) {
  width_ = static_cast<int>(all.open.size());
  for (int i = 0; i < width_; ++i) {
    SpinorField to = q_.columns(i, 1);
    convert_(s_.columns(all.open[i], 1), to);
  }
  const int columns = width_;
  const double cut = std::max(least_pivot, std::pow(attainable(normal_.precision()), 2));
  block_blas_.orthonormalise(q_, w_, width_, c_, cut, true);
  if (width_ == 0) return false;
  if (width_ < columns) {
    SolverResult& result = all.results[all.first + all.open[0]];
    result.events.push_back(
        {result.iterations, fmt::format("{} of {} residuals of the block depend on the others; left "
                                        "out for the time being",
                                        columns - width_, columns)});
  }
  p_.copy_from(q_);
  x_.fill(0);
  return true;
}

/// Iterates until every residual met its target. \return iterations.
int BlockConjugateGradients::iterate(Columns& all) {
  const int done = all.results[all.first + all.open[0]].iterations;
  const int limit = all.options.max_iterations - done;
  double least = INFINITY;
  int k = 0, least_at = 0;
  while (k < limit && width_ > 0) {
    if (!step()) {
      all.results[all.first + all.open[0]].events.push_back(
          {done + k, "breakdown: P^+ H P is not positive; the block ends"});
      break;
    }
    ++k;
    const std::vector<double> norms = column_norms(c_);
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < norms.size(); ++i) {
      const int n = all.open[i];
      const double residual = all.results[all.first + n].measured * norms[i] / all.norm[n];
      if (all.options.rhs_observer) all.options.rhs_observer(all.first + n, done + k, residual);
      worst = std::max(worst, norms[i] / all.target[i]);
      largest = std::max(largest, residual);
    }
    if (all.options.observer) all.options.observer(done + k, largest);
    if (worst < least) least = worst, least_at = k;
    if (!(worst > 1) || k - least_at > block_patience) break;
  }
  return k;
}

/// One iteration. \return false if P^+ H P is not positive in this precision: nothing was changed then.
bool BlockConjugateGradients::step() {
  SpinorField p = p_.columns(0, width_), v = v_.columns(0, width_);
  normal_.apply(v, p, Dagger::no);
  const Dense php = block_blas_.dot(p_, width_, v_, width_);
  const double start = now();
  alpha_ = inverse_of_positive(php);
  if (alpha_.rows() == 0) return false;
  const Dense correction = alpha_ * c_, minus_alpha = -1.0 * alpha_;
  host_seconds_ += now() - start;
  block_blas_.stage({&correction, &minus_alpha});
  block_blas_.update(p_, x_, x_, correction, 0);
  block_blas_.update(v_, q_, q_, minus_alpha, 1);
  block_blas_.orthonormalise(q_, w_, width_, s_matrix_, least_pivot, false);
  c_ = (s_matrix_ * c_).eval();
  if (width_ == 0) return true;
  const Dense s_adjoint = s_matrix_.adjoint();
  block_blas_.stage({&s_adjoint});
  block_blas_.update(p_, q_, v_, s_adjoint);  // P' = Q' + P S^+
  std::swap(p_, v_);
  return true;
}

/// x += y where that makes the residual smaller, as it does unless rounding or a lost number spoiled y.
void BlockConjugateGradients::correct(Columns& all) {
  for (std::size_t i = 0; i < all.open.size(); ++i) {
    const int n = all.open[i];
    SolverResult& result = all.results[all.first + n];
    SpinorField d = s_.columns(0, 1), r = r_.columns(0, 1), x = all.x.columns(n, 1);
    convert_(x_.columns(static_cast<int>(i), 1), d);
    blas_.axpby(1.0, x, 1.0, d);
    outer_->apply(r, d, Dagger::no);
    ++result.exact_applications;
    const double residual = std::sqrt(blas_.residual(all.b.columns(n, 1), r)) / all.b_norm[n];
    if (residual <= result.residual) {
      x.copy_from(d);
    } else {
      result.events.push_back(
          {result.iterations, "the correction of a block did not make the residual smaller; left out"});
    }
  }
}

}  // namespace quarksmith
