#include "solvers/krylov/multishift.hpp"

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"
#include "solvers/krylov/column.hpp"

namespace quarksmith {
namespace {

constexpr double margin = 0.95;  ///< target of the recurrence over the tolerance: the true residual differs a little

std::unique_ptr<const NormalOperator> normal(const LinearOperator& a, int shifts, MultishiftSolver::Form form) {
  if (form == MultishiftSolver::Form::hermitian) return nullptr;
  return std::make_unique<NormalOperator>(a, std::min(shifts, MultishiftSolver::most_refined));
}

}  // namespace

MultishiftSolver::MultishiftSolver(const LinearOperator& outer, const LinearOperator& inner, int shifts, Form form)
    : capacity_(shifts),
      normal_outer_(normal(outer, shifts, form)),
      normal_inner_(normal(inner, shifts, form)),
      outer_(normal_outer_ ? *normal_outer_ : outer),
      inner_(normal_inner_ ? *normal_inner_ : inner),
      uniform_(&outer.precision() == &inner.precision()),
      scalars_(outer.domain()->device_pointer(), shifts, outer.components()),
      x_(inner.field(shifts)),
      p_(x_.like()),
      r_(inner.field()),
      q_(r_.like()),
      b_(outer.field(std::min(shifts, most_refined))),
      measure_(scalars_, inner.precision(), "measure", {{"rr", "base_rr"}}),
      direction_(scalars_, inner.precision(), "shift_direction"),
      curvature_(scalars_, inner.precision(), "hermitian_curvature",
                 {{"rr", "base_rr"}, {"alpha", "base_alpha"}, {"beta", "base_beta"}, {"sigma", "base_sigma"}}),
      residual_(scalars_, inner.precision(), "shift_residual",
                {{"rr", "base_rr"}, {"alpha", "base_alpha"}, {"beta", "base_beta"}, {"factor", "base_factor"}}),
      coefficients_(scalars_, inner.precision(), "shift_coefficients", {},
                    {"base_alpha", "base_beta", "base_factor", "base_rr"}),
      advance_(scalars_, inner.precision(), "advance"),
      refinement_(outer_, inner_, Method::hermitian_cg, std::min(shifts, most_refined)),
      convert_(outer, outer.precision(), inner.precision(), 1) {}

std::vector<ShiftResult> MultishiftSolver::solve(SpinorField& x, const SpinorField& b,
                                                 const std::vector<double>& shifts,
                                                 const std::vector<double>& tolerances, const SolverOptions& options) {
  const int count = static_cast<int>(shifts.size());
  if (count < 1 || count > capacity_ || x.rhs() != count || static_cast<int>(tolerances.size()) != count ||
      b.rhs() != 1)
    throw UsageError(
        fmt::format("{} shifts, {} solutions, {} tolerances and {} right-hand sides for a solver of {} "
                    "shifts and one right-hand side",
                    count, x.rhs(), tolerances.size(), b.rhs(), capacity_));
  for (const double sigma : shifts)
    if (!(sigma >= 0) || !std::isfinite(sigma))
      throw UsageError(fmt::format("shift {}: A^+ A + sigma has to be positive; use sigma >= 0", sigma));
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int i, int j) { return shifts[i] < shifts[j]; });
  results_.assign(count, {});
  alpha_.clear();
  beta_.clear();
  if (KernelRehearsal::under_way()) {  // its numbers would never converge
    SpinorField one = x.columns(0, 1);
    convert_(b, r_);
    convert_(r_, one);
    for (ShiftResult& r : results_) r.converged = true;
    return results_;
  }
  const double b_norm = std::sqrt(Blas(b).norm2(b));
  if (b_norm == 0) {
    x.fill(0);
    for (ShiftResult& r : results_) r.converged = true;
    return results_;
  }
  start(b, b_norm, shifts, tolerances, options.max_iterations);
  run(count, options);
  complete(x);
  refine(x, b, shifts, tolerances, options);
  return results_;
}

/// Initialises the recurrences at x_k = 0.
void MultishiftSolver::start(const SpinorField& b, double b_norm, const std::vector<double>& shifts,
                             const std::vector<double>& tolerances, int limit) {
  const int count = static_cast<int>(shifts.size());
  x_.fill(0);
  p_.fill(0);
  convert_(b, r_);
  const double least = uniform_ ? 0 : attainable(r_.precision());
  const double bb = b_norm * b_norm;
  for (int s = 0; s < count; ++s) {
    for (const char* name : {"alpha", "beta", "iterations", "status", "base_alpha", "base_beta", "base_factor", "pp",
                             "scale", "size", "epsilon"})
      scalars_.set(s, name, 0);
    for (const char* name : {"active", "ratio", "zeta", "alpha_old"}) scalars_.set(s, name, 1);
    // The space of the smallest shift serves all others.
    const double tolerance = s == 0 ? *std::min_element(tolerances.begin(), tolerances.end()) : tolerances[order_[s]];
    const double target = together_ && s > 0 ? 0 : std::max((together_ ? 1 : margin) * tolerance, least);
    scalars_.set(s, "target", target * target * bb);
    scalars_.set(s, "bb", bb);
    scalars_.set(s, "rr", bb);
    scalars_.set(s, "sigma", shifts[order_[s]] - shifts[order_[0]]);
    scalars_.set(s, "base_sigma", shifts[order_[0]]);
    scalars_.set(s, "limit", limit);
  }
  scalars_.upload(0, count);
  measure_.for_all({.x = &r_});
}

/// One iteration for all shifts. Recorded.
void MultishiftSolver::iterate(int shifts) {
  SpinorField x = x_.columns(0, shifts), p = p_.columns(0, shifts), first = p_.columns(0, 1);
  direction_({.x = &p, .y = &x, .z = &r_});  // x_k += alpha_k p_k;  p_k = zeta_k r + beta_k p_k
  inner_.apply(q_, first, Dagger::no);
  curvature_({.x = &first, .y = &q_});  // q += sigma p;  alpha = (r, r) / (p, q)
  residual_({.x = &q_, .y = &r_});      // r' = r - alpha q;  beta = (r', r') / (r, r)
  coefficients_.program(p);             // rho_k, zeta_k, alpha_k, beta_k; |r_k| against its target
}

/// Iterates until all shifts have stopped.
void MultishiftSolver::run(int shifts, const SolverOptions& options) {
  Device& device = r_.device();
  const auto program = device.program([&] { iterate(shifts); });
  const auto snapshots = device.snapshots(scalars_.data(), Scalars::stride * shifts, ring);
  const int depth = together_ ? 1 : look_ahead(device, options);  // shifts without a target would go on
  double least = INFINITY;
  int launched = 0, seen = 0, least_at = 0;
  const double start = now();
  double waited = 0;
  const auto observe = [&] {
    const double asked = now();
    const double* snapshot = snapshots->wait();
    waited += now() - asked;
    scalars_.assign(snapshot, shifts);
    ++seen;
    if (scalars_.get(0, "iterations").real() > results_[order_[0]].iterations) {
      alpha_.push_back(scalars_.get(0, "base_alpha").real());
      beta_.push_back(scalars_.get(0, "base_beta").real());
    }
    double largest = 0;
    for (int s = 0; s < shifts; ++s) {
      ShiftResult& result = results_[order_[s]];
      const int iteration = static_cast<int>(scalars_.get(s, "iterations").real());
      const double residual = std::sqrt(std::max(scalars_.get(s, "fraction").real(), 0.0));
      if (iteration > result.iterations && options.rhs_observer) options.rhs_observer(order_[s], iteration, residual);
      result.iterations = result.shared_iterations = iteration;
      largest = std::max(largest, residual);
    }
    if (options.observer) options.observer(results_[order_[0]].iterations, largest);
    const double rr = scalars_.get(0, "base_rr").real();
    if (rr < least) least = rr, least_at = seen;
  };
  // The smallest shift stops last; when its recurrence breaks down all shifts have to stop.
  while (scalars_.get(0, "active") != 0.0) {
    if (seen - least_at > patience) {
      results_[order_[0]].events.push_back(
          {seen, fmt::format("no progress in {} iterations; the shifts go on by themselves", patience)});
      break;
    }
    for (; launched - seen < depth; ++launched) {
      program->launch();
      snapshots->take();
    }
    observe();
  }
  while (seen < launched) observe();
  seconds_ += now() - start;
  host_seconds_ += now() - start - waited;
}

/// The Lanczos matrix has the diagonal 1/alpha_j + beta_(j-1)/alpha_(j-1) and next to it sqrt(beta_j)/alpha_j (Y. Saad,
/// Iterative Methods for Sparse Linear Systems, 2nd edition, section 6.7.3).
std::optional<std::pair<double, double>> MultishiftSolver::ritz_values() const {
  const auto n = static_cast<Eigen::Index>(alpha_.size());
  if (n == 0) return std::nullopt;
  Eigen::VectorXd diagonal(n), beside(n - 1);
  for (Eigen::Index j = 0; j < n; ++j) {
    diagonal[j] = 1 / alpha_[j] + (j > 0 ? beta_[j - 1] / alpha_[j - 1] : 0);
    if (j + 1 < n) beside[j] = std::sqrt(beta_[j]) / alpha_[j];
  }
  if (!diagonal.allFinite() || !beside.allFinite()) return std::nullopt;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  const Eigen::VectorXd& values = solver.computeFromTridiagonal(diagonal, beside, Eigen::EigenvaluesOnly).eigenvalues();
  const double shift = scalars_.get(0, "base_sigma").real();
  return std::pair(values[0] - shift, values[n - 1] - shift);
}

/// Adds the last update of each x_k, which the next iteration would have done, and converts x_k to the precision of x.
void MultishiftSolver::complete(SpinorField& x) {
  const int shifts = x.rhs();
  for (int s = 0; s < shifts; ++s) {
    const auto status = static_cast<Status>(static_cast<int>(scalars_.get(s, "status").real()));
    if (status == Status::fine) continue;
    scalars_.set(s, "alpha", 0);  // of the last but one
    const bool breakdown = status == Status::breakdown;
    if (!breakdown)
      for (SpinorField* f : {&x_, &p_}) f->columns(s, 1).fill(0);
    ShiftResult& result = results_[order_[s]];
    result.events.push_back({result.iterations, breakdown ? "breakdown: a denominator vanished; goes on by itself"
                                                          : "a number was not finite; goes on by itself from 0"});
  }
  scalars_.upload(0, shifts);
  SpinorField all = x_.columns(0, shifts), p = p_.columns(0, shifts);
  advance_.for_all({.x = &p, .y = &all});
  for (int s = 0; s < shifts; ++s) {
    SpinorField to = x.columns(order_[s], 1);
    convert_(x_.columns(s, 1), to);
  }
  results_[order_[0]].applications = results_[order_[0]].shared_iterations;
}

/// Computes true residuals, and iterates further for the shifts that miss their tolerance.
void MultishiftSolver::refine(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
                              const std::vector<double>& tolerances, const SolverOptions& options) {
  const int count = static_cast<int>(shifts.size());
  for (int n = 0; n < b_.rhs(); ++n) b_.columns(n, 1).copy_from(b);
  for (int first = 0; first < count; first += b_.rhs()) {
    const int width = std::min(b_.rhs(), count - first);
    SolverOptions own = options;
    own.criterion = Criterion::residual;
    if (options.observer)
      own.observer = [&](int iteration, double residual) {
        options.observer(results_[first].shared_iterations + iteration, residual);
      };
    if (options.rhs_observer)
      own.rhs_observer = [&](int n, int iteration, double residual) {
        options.rhs_observer(first + n, results_[first + n].shared_iterations + iteration, residual);
      };
    SpinorField part = x.columns(first, width);
    const auto more = refinement_.solve(part, b_.columns(0, width), own,
                                        {tolerances.begin() + first, tolerances.begin() + first + width},
                                        {shifts.begin() + first, shifts.begin() + first + width});
    for (int n = 0; n < width; ++n) results_[first + n].append(more[n]);
  }
}

}  // namespace quarksmith
