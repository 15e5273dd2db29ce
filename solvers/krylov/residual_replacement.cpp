// Residual replacement for right-hand sides that have come to rest: corrections, true residuals, and how to continue.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/krylov/column.hpp"

namespace quarksmith {
namespace {

constexpr int most_failures = 3;  ///< restarts without progress before a right-hand side is given up
constexpr const char* stagnation = "the true residual stagnates";
constexpr double most_drift = 2;  ///< of the true residual over that of the recurrence

/// Factor by which the residual falls between replacements, or in one correction. With these CG needs no more
/// iterations than in double on thermalised links, except in quarter precision. Light quarks need more if half
/// precision runs for longer; where few iterations win a digit, replacements cost as much as these.
/// \param rate of |residual|^2 in an iteration.
/// \param replacements so far: the first digits may be the fastest.
/// \param steady conjugate gradients, which the first residual shows to drift.
double default_delta(const PrecisionInfo& p, double error, Updates updates, double rate, int replacements,
                     bool steady) {
  constexpr double fast = 0.7;
  if (updates == Updates::defect) return std::clamp(2000 * error, 1e-5, 0.3);
  if (p.bits < 16 || p.bits >= 24) return p.bits < 16 ? 0.3 : 0.01;
  if (replacements > 0 && rate >= fast) return 0.1;
  return !steady || replacements > 1 ? 0.002 : replacements == 1 ? 0.02 : 0.05;
}

}  // namespace

void KrylovBatch::replace_residuals(Task& task, const std::vector<int>& positions) {
  Run run;
  const auto correct = [&](int n) {
    return std::isfinite(task.columns[n].measured) && scalars_.get(n, "status") != double(Status::not_finite);
  };
  for (const int n : positions) {
    const bool next = run.count > 0 && n == run.first + run.count && correct(n) == run.correct &&
                      task.columns[n].index == task.columns[n - 1].index + 1;
    if (next) {
      ++run.count;
      continue;
    }
    if (run.count > 0) replace_residuals(task, run);
    run = {n, 1, correct(n)};
  }
  if (run.count > 0) replace_residuals(task, run);
}

void KrylovBatch::replace_residuals(Task& task, const Run& run) {
  const int index = task.columns[run.first].index;
  const ProfilerRange range(task.x->device(), "quarksmith true residual");
  SpinorField x = task.x->columns(index, run.count), r = r_.columns(0, run.count), s = d_.columns(0, run.count);
  const SpinorField b = task.b->columns(index, run.count);
  std::vector<double> r_norms;
  const auto columns = task.columns.begin() + run.first;
  const bool at_zero = std::all_of(columns, columns + run.count,
                                   [](const Column& c) { return c.from_zero && !std::isfinite(c.measured); });
  if (at_zero) {
    r.copy_from(b);
    for (int n = 0; n < run.count; ++n) r_norms.push_back(columns[n].b_norm);
  } else if (!run.correct || !accept(task, run, x, r, r_norms)) {
    apply_outer(r, x, run.first);
    r_norms = roots(blas_.residuals(b, r));  // r = b - A x
  }
  std::vector<double> s_norms(run.count, 0.0);
  if (task.needs_normal) {
    outer_->apply(s, r, Dagger::yes);
    s_norms = roots(blas_.norms2(s));
  }
  for (int n = 0; n < run.count; ++n) {
    Column& c = task.columns[run.first + n];
    c.result.exact_applications += !at_zero + task.needs_normal;
    judge(task, c, r_norms[n], s_norms[n]);
  }
  SpinorField fresh = recurrence_->fresh().columns(run.first, run.count);
  convert_(recurrence_->normal() ? s : r, fresh);
  for (int n = run.first; n < run.first + run.count;) {  // those that continue in the same way, together
    const Column& c = task.columns[n];
    int end = n;
    for (; end < run.first + run.count; ++end) {
      const Column& other = task.columns[end];
      if (other.done != c.done || other.restart != c.restart) break;
      arm(task, end);
    }
    if (c.restart) recurrence_->prepare(n, end - n);
    scalars_.upload(n, end - n);
    if (!c.done) c.restart ? recurrence_->start(n, end - n) : recurrence_->replace(n, end - n);
    n = end;
  }
}

/// Adds the corrections of a run to x where that is sound; r becomes b - A x.
/// \return false if r has to be computed anew.
bool KrylovBatch::accept(Task& task, const Run& run, SpinorField& x, SpinorField& r, std::vector<double>& r_norms) {
  recurrence_->complete(run.first, run.count);
  SpinorField d = d_.columns(0, run.count);
  take_(recurrence_->correction().columns(run.first, run.count), d);
  blas_.axpby(1.0, x, 1.0, d);  // x + y
  apply_outer(r, d, run.first);
  r_norms = roots(blas_.residuals(task.b->columns(task.columns[run.first].index, run.count), r));
  bool all = true;
  for (int n = 0; n < run.count; ++n) {
    Column& c = task.columns[run.first + n];
    const double before = c.result.residual * c.b_norm;
    const bool sound = std::isfinite(r_norms[n]) && r_norms[n] < 1e3 * before;
    if (sound && r_norms[n] > before && !c.saved) {  // x is the best so far
      if (!best_) best_ = std::make_unique<SpinorField>(r_.like());
      best_->columns(c.index, 1).copy_from(x.columns(n, 1));
      c.saved = true;
    }
    if (sound) {
      x.columns(n, 1).copy_from(d.columns(n, 1));
    } else {
      all = false;
      if (c.trouble.empty()) c.trouble = "the correction made the residual much larger";
    }
  }
  return all;
}

/// Decides how a column with residual r and s = A^+ r continues.
void KrylovBatch::judge(Task& task, Column& c, double r, double s) const {
  const bool first = !std::isfinite(c.measured);
  const int position = static_cast<int>(&c - task.columns.data());
  const auto status = static_cast<Status>(static_cast<int>(scalars_.get(position, "status").real()));
  c.result.residual = r / c.b_norm;
  c.measured = (task.options->criterion == Criterion::normal ? s : r) / c.b_measure;
  const double norm = recurrence_->normal() ? s : r;
  c.rr = norm * norm;
  c.replaced_at = c.seen;
  c.waited = 0;
  c.result.measured = c.measured;
  c.result.converged = c.measured <= c.tolerance;
  if (c.measured < c.best) {
    if (c.measured < 0.5 * c.best) c.failures = 0;
    c.saved = false;
  }
  if (c.result.converged) {
    c.done = true;
    return;
  }
  std::string trouble = std::exchange(c.trouble, "");
  if (status == Status::breakdown) {
    trouble = "breakdown: a denominator vanished";
    c.hopeless = hand_over_;
  }
  if (status == Status::not_finite) trouble = "a number was not finite";
  // A recurrence that has its residual is sound, however large that is: residuals of BiCGstab have peaks. The direction
  // of one that has lost it would lead astray.
  const double rr = scalars_.get(position, "rr").real();
  const bool lost = !first && norm > most_drift * std::sqrt(rr);
  const bool reached = !first && rr <= scalars_.get(position, "target").real();
  const bool steady = trouble == no_progress && recurrence_->steady() && !raised_ && !lost;
  if (steady) trouble.clear();
  if (trouble.empty() && (lost || reached) && c.measured > 0.9 * c.best && norm > 0.9 * c.best_norm)
    trouble = stagnation;
  if (trouble.empty() && raised_ && !first && norm > drift_to_leave * std::sqrt(rr)) trouble = drifted;
  if (norm < c.best_norm || !trouble.empty() || steady) c.least_at = c.seen;
  c.best_norm = std::min(c.best_norm, norm);
  c.least = trouble.empty() ? c.best_norm * c.best_norm : c.rr;
  if (c.measured < c.best) c.best = c.measured, c.best_residual = c.result.residual;
  c.done = c.seen >= c.limit || !std::isfinite(c.measured) || c.rr == 0;
  c.restart = first || lost || !trouble.empty() || task.options->updates == Updates::defect;
  if (first) return;
  if (trouble.empty()) {
    ++c.result.replacements;
    if (lost && task.options->updates != Updates::defect)
      c.result.events.push_back({c.seen, "the recurrence has lost its residual; restarted from the true one"});
    return;
  }
  if (c.done) return;  // at the limit of iterations
  const bool raised = raised_ && (trouble == stagnation || trouble == no_progress || trouble == drifted);
  c.done = raised || ++c.failures > (uniform_ || hand_over_ ? 1 : most_failures) || c.hopeless;
  if (c.done) c.result.trouble = trouble;
  if (c.done && (hand_over_ || raised_)) return;  // the solver that continues reports it
  c.result.events.push_back({c.seen, trouble + (c.done ? "; given up" : "; restarted from the last iterate")});
}

/// Sets the scalars with which a column continues.
void KrylovBatch::arm(const Task& task, int position) {
  const Column& c = task.columns[position];
  const Updates updates = task.options->updates;
  // A little below the tolerance: the recurrence has its own residual, perhaps in another norm.
  const bool other_norm = recurrence_->normal() != (task.options->criterion == Criterion::normal);
  const double target = (other_norm ? 0.8 : 0.95) * c.tolerance / c.measured;
  const bool falls = !uniform_ && updates != Updates::replacement;
  const double epsilon = !uniform_ && updates == Updates::replacement ? error_ : 0;
  const double asked = task.options->delta;
  const double delta = asked > 0 ? asked
                                 : default_delta(inner_->precision(), error_, updates, c.rate, c.result.replacements,
                                                 recurrence_->steady());
  scalars_.set(position, "active", c.done ? 0 : 1);
  scalars_.set(position, "status", 0);
  scalars_.set(position, "target", target * target * c.rr);
  scalars_.set(position, "fall", falls ? delta * delta : 0);
  scalars_.set(position, "limit", c.limit);
  scalars_.set(position, "epsilon", epsilon);
  scalars_.set(position, "root", std::sqrt(epsilon));
}

}  // namespace quarksmith
