#include "solvers/krylov/block_cg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "solvers/krylov/column.hpp"

namespace quarksmith {
namespace {

constexpr int block_patience = 200;  ///< iterations without a new least residual after which a block ends
/// Pivots below which columns of unit length count as dependent: what is left of them would be rounding.
constexpr double least_pivot = 1e-12;

}  // namespace

BlockConjugateGradients::BlockConjugateGradients(const OuterSolverSetting& s)
    : CycleSolver(s, std::min(s.rhs, most), true),
      normal_(s.inner, BlockBlas::padded(std::min(s.rhs, most))),
      x_(s.inner.field(BlockBlas::padded(std::min(s.rhs, most)))),
      q_(x_.like()),
      p_(x_.like()),
      v_(x_.like()),
      w_(x_.like()),
      block_blas_(s.inner, std::size_t(x_.rhs()) * x_.rhs(), 2) {
  if (s.outer.spins() != 4) throw UsageError("block-cg works on Dirac spinors; use cg");
  for (SpinorField* f : {&x_, &q_, &p_, &v_, &w_}) f->fill(0);
}

void BlockConjugateGradients::correct(SpinorField& d, SpinorField&, Courses group) {
  open_.clear();
  for (Course& c : group)
    if (c.open) open_.push_back(&c);
  const auto column = [&](std::size_t i) { return d.columns(static_cast<int>(open_[i] - group.data()), 1); };
  for (std::size_t i = 0; i < open_.size(); ++i) {
    SpinorField to = q_.columns(static_cast<int>(i), 1);
    convert_(column(i), to);
  }
  begin();
  iterate();
  for (std::size_t i = 0; i < open_.size(); ++i) {
    SpinorField to = column(i);
    convert_(x_.columns(static_cast<int>(i), 1), to);
  }
}

/// Sets up Q, C and P for the open columns, whose A^+ r are in Q.
void BlockConjugateGradients::begin() {
  const int columns = width_ = static_cast<int>(open_.size());
  const double cut = std::max(least_pivot, std::pow(attainable(normal_.precision()), 2));
  block_blas_.orthonormalise(q_, w_, width_, c_, cut, true);
  if (width_ > 0 && width_ < columns) {
    SolverResult& result = open_[0]->result;
    result.events.push_back(
        {result.iterations, fmt::format("{} of {} residuals of the block depend on the others; left "
                                        "out for the time being",
                                        columns - width_, columns)});
  }
  p_.copy_from(q_);
  x_.fill(0);
}

/// Iterates until every residual meets its target, or the block makes no progress.
void BlockConjugateGradients::iterate() {
  const SolverResult& first = open_[0]->result;
  double least = INFINITY;
  for (int least_at = first.iterations; !open_[0]->at_limit() && width_ > 0;) {
    if (!step()) {
      open_[0]->result.events.push_back({first.iterations, "breakdown: P^+ H P is not positive; the block ends"});
      return;
    }
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      Course& c = *open_[i];
      const SolverOptions& options = c.options;
      const double norm = c_.col(static_cast<int>(i)).norm(), residual = c.result.measured * norm / c.s_norm;
      // A little below the tolerance: the recurrence has its own residual, perhaps in another norm.
      const double target = (c.normal() ? 0.95 : 0.8) * c.tolerance / c.result.measured;
      ++c.result.iterations;
      c.result.applications += 2;
      if (options.rhs_observer) options.rhs_observer(c.rhs, c.result.iterations, residual);
      worst = std::max(worst, norm / (std::max(target, least_) * c.s_norm));
      largest = std::max(largest, residual);
    }
    const SolverOptions& options = open_[0]->options;
    if (options.observer) options.observer(first.iterations, largest);
    if (worst < least) least = worst, least_at = first.iterations;
    if (!(worst > 1) || first.iterations - least_at > block_patience) return;
  }
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

}  // namespace quarksmith
