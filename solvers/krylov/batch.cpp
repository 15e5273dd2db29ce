#include "solvers/krylov/column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"

namespace quarksmith {
namespace {

constexpr double divergence = 1e6;  ///< growth of a residual that counts as one

/// A right-hand side that another method could take over must halve its residual in this many iterations, and in this
/// share of those so far. A method that suits its system takes a tenth, but light quarks begin with a plateau.
constexpr int halving = 300;
constexpr double halving_share = 1.0 / 3;

/// A batch shrinks to `live` right-hand sides when that saves a tile of four, two or one.
int width_for(int live) { return live <= 2 ? live : (live + 3) / 4 * 4; }

/// Results of a rehearsal, whose numbers would never converge.
std::vector<SolverResult> converged(int rhs) {
  std::vector<SolverResult> results(static_cast<std::size_t>(rhs));
  for (SolverResult& r : results) r.converged = true;
  return results;
}

}  // namespace

KrylovBatch::KrylovBatch(const LinearOperator& outer, const LinearOperator& inner, Method method, int capacity,
                         const MethodParameters& parameters, const LinearOperator* preconditioner, double deviation)
    : outer_(&outer),
      inner_(&inner),
      capacity_(capacity),
      error_(std::max(rounding(inner.precision()), deviation)),
      uniform_(&outer.precision() == &inner.precision() && deviation == 0),
      blas_(outer),
      scalars_(outer.domain()->device_pointer(), capacity, outer.components()),
      recurrence_(make_recurrence(method, parameters, inner, preconditioner != nullptr ? *preconditioner : inner,
                                  scalars_, capacity)),
      r_(outer.field(capacity)),
      d_(r_.like()),
      convert_(outer, outer.precision(), inner.precision(), capacity),
      take_(outer, outer.precision(), computed_in(inner.precision()), capacity) {
  if (method == Method::hermitian_cg)
    shift_ = std::unique_ptr<Step>(new Step(scalars_, outer.precision(), "advance", {{"alpha", "sigma"}}));
  for (const char* name : {"rr", "target", "fall", "most", "iterations", "limit", "epsilon", "root"})
    scalars_.slot(name);
}

KrylovBatch::~KrylovBatch() = default;

Program& KrylovBatch::program(int width, int phase) {
  auto& made = programs_[{width, phase}];
  if (!made) made = r_.device().program([this, width, phase] { recurrence_->iterate(width, phase); });
  return *made;
}

/// out = A in, or (A + sigma) in for right-hand sides at positions first, first + 1, ...
void KrylovBatch::apply_outer(SpinorField& out, const SpinorField& in, int first) const {
  outer_->apply(out, in, Dagger::no);
  if (shift_) shift_->for_all({.x = &in, .y = &out}, first);
}

/// The right-hand sides that are not zero, at their positions.
KrylovBatch::Task KrylovBatch::task_of(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                       const std::vector<double>& tolerances, const std::vector<int>& limits) {
  Task task{&x, &b, &options};
  task.results.resize(b.rhs());
  task.needs_normal = recurrence_->normal() || options.criterion == Criterion::normal;
  const std::vector<double> norms = roots(blas_.norms2(b)), guesses = blas_.norms2(x);
  std::vector<double> measures = norms;
  if (options.criterion == Criterion::normal) {
    SpinorField s = d_.columns(0, b.rhs());
    outer_->apply(s, b, Dagger::yes);
    measures = roots(blas_.norms2(s));
  }
  for (int n = 0; n < b.rhs(); ++n) {
    if (norms[n] == 0) {
      x.columns(n, 1).fill(0);
      task.results[n].converged = true;
      continue;
    }
    Column c;
    c.index = n;
    c.tolerance = tolerances[n];
    c.limit = limits.empty() ? options.max_iterations : limits[n];
    c.b_norm = norms[n];
    c.b_measure = measures[n];
    c.from_zero = guesses[n] == 0;
    task.columns.push_back(c);
  }
  task.width = static_cast<int>(task.columns.size());
  return task;
}

std::vector<SolverResult> KrylovBatch::solve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                             const std::vector<double>& tolerances, const std::vector<double>& shifts,
                                             const std::vector<int>& limits) {
  if (b.rhs() > capacity_ || x.rhs() != b.rhs() || static_cast<int>(tolerances.size()) != b.rhs())
    throw UsageError(fmt::format("{} right-hand sides, {} solutions and {} tolerances for a solver of {} at most",
                                 b.rhs(), x.rhs(), tolerances.size(), capacity_));
  if (!shifts.empty() && (!shift_ || static_cast<int>(shifts.size()) != b.rhs()))
    throw UsageError(
        fmt::format("{} shifts of {} right-hand sides; only conjugate gradients for Hermitian operators "
                    "take them, one for each",
                    shifts.size(), b.rhs()));
  if (KernelRehearsal::under_way()) {
    SpinorField from = r_.columns(0, 1), to = recurrence_->correction().columns(0, 1);
    convert_(from, to);
    convert_(to, from);
    return converged(b.rhs());
  }
  Task task = task_of(x, b, options, tolerances, limits);
  if (shift_) {
    for (int n = 0; n < task.width; ++n) scalars_.set(n, "sigma", shifts.empty() ? 0 : shifts[task.columns[n].index]);
    scalars_.upload(0, task.width);
  }
  const ProfilerRange solve(b.device(), "quarksmith solve");
  if (!snapshots_ || under_way_)  // an earlier solve was left by an exception: copies are outstanding
    snapshots_ = b.device().snapshots(scalars_.data(), Scalars::stride * capacity_, ring);
  under_way_ = true;
  begin(task);
  int phase = 0;
  while (!task.columns.empty()) {
    iterate(task, phase);
    std::vector<int> due;
    for (int n = 0; n < task.width; ++n) {
      Column& c = task.columns[n];
      if (!c.done && (scalars_.get(n, "active") == 0.0 || !c.trouble.empty())) due.push_back(n);
    }
    if (static_cast<int>(due.size()) == live(task)) phase = 0;
    replace_residuals(task, due);
    compact(task);
  }
  under_way_ = false;
  return task.results;
}

/// Iterates from `phase` on, ahead of what the host has seen, until the residual of a right-hand side has to be
/// replaced.
void KrylovBatch::iterate(Task& task, int& phase) {
  const double start = now();
  const ProfilerRange iterations(r_.device(), "quarksmith iterations");
  const int depth = look_ahead(r_.device(), *task.options);
  int launched = 0, seen = 0;
  for (bool rest = false; !rest;) {
    const double busy = now();
    const int ahead = !recurrence_->idles() && near_rest(task) ? 1 : depth;
    for (; launched - seen < ahead; ++launched) {
      program(task.width, phase).launch();
      phase = (phase + 1) % recurrence_->phases();
      snapshots_->take();
    }
    host_seconds_ += now() - busy;
    scalars_.assign(snapshots_->wait(), task.width);
    ++seen;
    const double looked = now();
    rest = observe(task);
    host_seconds_ += now() - looked;
  }
  for (; seen < launched; ++seen) scalars_.assign(snapshots_->wait(), task.width);
  observe(task);
  seconds_ += now() - start;
}

void KrylovBatch::begin(Task& task) {
  for (int n = 0; n < task.width; ++n) {
    for (const char* name : {"iterations", "rr", "active"}) scalars_.set(n, name, 0);
    scalars_.set(n, "status", 0);
  }
  std::vector<int> all(task.width);
  for (int n = 0; n < task.width; ++n) all[n] = n;
  replace_residuals(task, all);
  compact(task);
}

/// True if residuals have to be replaced: all right-hand sides are inactive, or one has been for a while.
bool KrylovBatch::observe(Task& task) {
  bool all = true, one = false;
  int iterations = 0;
  double largest = 0;
  for (int n = 0; n < task.width; ++n) {
    Column& c = task.columns[n];
    if (c.done) continue;
    const double rr = scalars_.get(n, "rr").real();
    const int iteration = static_cast<int>(scalars_.get(n, "iterations").real());
    const double residual = c.rr > 0 ? c.measured * std::sqrt(rr / c.rr) : 0;
    iterations = std::max(iterations, iteration);
    if (!(residual <= largest)) largest = residual;
    if (iteration > c.seen && task.options->rhs_observer) task.options->rhs_observer(c.index, iteration, residual);
    c.seen = iteration;
    c.result.iterations = iteration;
    if (rr < c.least) c.least = rr, c.least_at = iteration;
    if (residual < 0.5 * c.milestone) c.milestone = residual, c.milestone_at = iteration;
    if (iteration > c.replaced_at && rr > 0)
      c.rate = std::clamp(std::pow(rr / c.rr, 1.0 / (iteration - c.replaced_at)), 1e-3, 1.0);
    if (scalars_.get(n, "active") == 0.0) {
      one = one || ++c.waited > std::max(1, (iteration - c.replaced_at) / 8);
    } else {
      all = false;
      if (rr > divergence * divergence * c.rr) c.trouble = "the residual diverges";
      if (iteration - c.least_at > std::max(patience, iteration / 3)) c.trouble = no_progress;
      if (hand_over_ && iteration - c.milestone_at > std::max<double>(halving, halving_share * iteration))
        c.trouble = "stagnation";
      c.hopeless = hand_over_ && !c.trouble.empty();
      one = one || !c.trouble.empty();
    }
  }
  if (iterations > 0 && task.options->observer) task.options->observer(iterations, largest);
  return all || one;
}

/// True if a right-hand side may stop within the iterations that would be enqueued ahead: they would be wasted.
bool KrylovBatch::near_rest(const Task& task) const {
  for (int n = 0; n < task.width; ++n) {
    const Column& c = task.columns[n];
    if (c.done || scalars_.get(n, "active") == 0.0) continue;
    const double level =
        std::max(scalars_.get(n, "target").real(), scalars_.get(n, "fall").real() * scalars_.get(n, "most").real());
    if (scalars_.get(n, "rr").real() * std::pow(c.rate, 2 * task.options->look_ahead) <= level) return true;
  }
  return false;
}

int KrylovBatch::live(const Task& task) {
  return static_cast<int>(
      std::count_if(task.columns.begin(), task.columns.end(), [](const Column& c) { return !c.done; }));
}

/// Retires converged columns; shrinks the batch when that saves a tile.
void KrylovBatch::compact(Task& task) {
  int live = 0;
  for (Column& c : task.columns) {
    live += !c.done;
    if (!c.done || c.index < 0) continue;
    if (c.saved && !c.result.converged) {
      task.x->columns(c.index, 1).copy_from(best_->columns(c.index, 1));
      c.result.measured = c.best;
      c.result.residual = c.best_residual;
    }
    c.result.applications = c.result.iterations * recurrence_->applications();
    task.results[c.index] = c.result;
    c.index = -1;
  }
  if (live > 0 && width_for(live) >= task.width) return;
  for (int hole = 0, last = task.width - 1; hole < live; ++hole) {
    if (!task.columns[hole].done) continue;
    while (task.columns[last].done) --last;
    for (SpinorField* f : recurrence_->state()) f->columns(hole, 1).copy_from(f->columns(last, 1));
    scalars_.copy(hole, last);
    std::swap(task.columns[hole], task.columns[last]);
  }
  task.columns.resize(live);
  task.width = live;
}

}  // namespace quarksmith
