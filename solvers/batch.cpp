#include "solvers/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "runtime/error.hpp"
#include "solvers/bicgstab.hpp"
#include "solvers/cg.hpp"

namespace quarksmith {
namespace {

constexpr int ring = 8;             ///< snapshots kept
constexpr int most_failures = 3;    ///< restarts without progress before a right-hand side is given up
constexpr double divergence = 1e6;  ///< growth of a residual that counts as one
constexpr double most_drift = 2;    ///< of the true residual over that of the recurrence
constexpr int patience = 500;       ///< iterations without a new least residual that count as stagnation

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<double> roots(std::vector<double> squares) {
  for (double& v : squares) v = std::sqrt(v);
  return squares;
}

/// Relative rounding of a format.
double rounding(const PrecisionInfo& p) {
  if (p.bits == 64) return 0x1p-53;
  return p.bits == 32 ? 0x1p-24 : std::ldexp(1.0, -p.bits);
}

/// By what the residual falls between replacements, or in one correction.
double default_delta(const PrecisionInfo& p, Updates updates) {
  if (updates == Updates::defect) return std::clamp(2000 * rounding(p), 1e-5, 0.3);
  return p.bits < 16 ? 0.3 : 0.1;
}

std::unique_ptr<Recurrence> make_recurrence(Method method, const LinearOperator& a, Scalars& scalars, int rhs) {
  if (method == Method::cg) return std::make_unique<ConjugateGradients>(a, scalars, rhs);
  return std::make_unique<BiCGstab>(a, scalars, rhs);
}

/// A batch shrinks to `live` right-hand sides when that saves a tile of four, two or one.
int width_for(int live) { return live <= 2 ? live : (live + 3) / 4 * 4; }

}  // namespace

/// One right-hand side under way.
struct KrylovBatch::Column {
  int index = 0;  ///< in x and b
  double tolerance = 0;
  double b_norm = 0;     ///< |b|
  double b_measure = 0;  ///< |b|, or |A^+ b|
  double measured = INFINITY, best = INFINITY, best_residual = INFINITY;
  double rr = 0;      ///< |residual|^2 of the recurrence when it was settled
  double rate = 0.5;  ///< by which |residual|^2 fell in an iteration
  double least = 0;   ///< least |residual|^2 since then
  int settled_at = 0, least_at = 0, seen = 0, waited = 0, failures = 0;
  bool done = false, restart = true, saved = false;
  std::string trouble;  ///< why it has to be settled beside its own coming to rest
  SolverResult result;
};

/// Neighbouring positions whose columns are neighbours too.
struct KrylovBatch::Run {
  int first = 0, count = 0;
  bool correct = false;  ///< there is a correction to add
};

/// One call of solve.
struct KrylovBatch::Task {
  SpinorField* x;
  const SpinorField* b;
  const SolverOptions* options;
  std::vector<Column> columns = {};  ///< by position
  int width = 0;
  double delta = 0;
  std::vector<SolverResult> results = {};

  bool needs_normal = false;  ///< A^+ r is wanted of every residual
};

KrylovBatch::KrylovBatch(const LinearOperator& outer, const LinearOperator& inner, Method method, int capacity)
    : outer_(&outer),
      inner_(&inner),
      capacity_(capacity),
      uniform_(&outer.precision() == &inner.precision()),
      blas_(outer.domain()->device(), outer.precision()),
      scalars_(outer.domain()->device_pointer(), capacity),
      recurrence_(make_recurrence(method, inner, scalars_, capacity)),
      r_(outer.domain(), outer.precision(), outer.subset(), capacity),
      d_(r_.like()) {
  if (!uniform_ && outer.precision().name != "double" && inner.precision().name != "double")
    staging_ = std::make_unique<SpinorField>(outer.domain(), find_precision("double"), outer.subset(), capacity);
  snapshots_ = outer.domain()->device().snapshots(scalars_.data(), Scalars::bytes_per_rhs * capacity, ring);
  for (const char* name : {"rr", "target", "fall", "most", "iterations", "limit", "epsilon", "root"})
    scalars_.slot(name);
}

KrylovBatch::~KrylovBatch() = default;

std::pair<int, int> KrylovBatch::fields(Method method) { return {method == Method::cg ? 5 : 6, 2}; }

void KrylovBatch::transfer(const SpinorField& from, SpinorField& to) {
  if (&from.precision() == &to.precision()) return to.copy_from(from);
  if (!staging_) return convert(from, to);
  SpinorField between = staging_->slice(0, from.rhs());
  convert(from, between);
  convert(between, to);
}

std::vector<SolverResult> KrylovBatch::solve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                             const std::vector<double>& tolerances) {
  if (b.rhs() > capacity_ || x.rhs() != b.rhs() || static_cast<int>(tolerances.size()) != b.rhs())
    throw UsageError(fmt::format("{} right-hand sides, {} solutions and {} tolerances for a solver of {} at most",
                                 b.rhs(), x.rhs(), tolerances.size(), capacity_));
  Task task{&x, &b, &options};
  task.results.resize(b.rhs());
  task.needs_normal = recurrence_->normal() || options.criterion == Criterion::normal;
  task.delta = options.delta > 0 ? options.delta : default_delta(inner_->precision(), options.updates);
  const std::vector<double> norms = roots(blas_.norms2(b));
  std::vector<double> measures = norms;
  if (options.criterion == Criterion::normal) {
    SpinorField s = d_.slice(0, b.rhs());
    outer_->apply(s, b, Dagger::yes);
    measures = roots(blas_.norms2(s));
  }
  for (int n = 0; n < b.rhs(); ++n) {
    if (norms[n] == 0) {
      x.slice(n, 1).fill(0);
      task.results[n].converged = true;
      continue;
    }
    Column c;
    c.index = n;
    c.tolerance = tolerances[n];
    c.b_norm = norms[n];
    c.b_measure = measures[n];
    task.columns.push_back(c);
  }
  task.width = static_cast<int>(task.columns.size());
  begin(task);
  while (!task.columns.empty()) {
    const auto program = b.device().program([this, width = task.width] { recurrence_->iterate(width); });
    snapshots_ = b.device().snapshots(scalars_.data(), Scalars::bytes_per_rhs * task.width, ring);
    for (const int width = task.width; task.width == width && !task.columns.empty();) {
      const double start = now();
      const int depth = b.device().asynchronous() ? std::clamp(options.look_ahead, 1, ring) : 1;
      int launched = 0, seen = 0;
      bool rest = false;
      while (!rest) {
        const double busy = now();
        const int ahead = near_rest(task) ? 1 : depth;
        for (; launched - seen < ahead; ++launched) {
          program->launch();
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
      std::vector<int> due;
      for (int n = 0; n < task.width; ++n) {
        Column& c = task.columns[n];
        if (!c.done && (scalars_.get(n, "active") == 0.0 || !c.trouble.empty())) due.push_back(n);
      }
      settle(task, due);
      compact(task);
    }
  }
  return task.results;
}

void KrylovBatch::begin(Task& task) {
  for (int n = 0; n < task.width; ++n) {
    for (const char* name : {"iterations", "rr", "active"}) scalars_.set(n, name, 0);
    scalars_.set(n, "status", 0);
  }
  std::vector<int> all(task.width);
  for (int n = 0; n < task.width; ++n) all[n] = n;
  settle(task, all);
  compact(task);
}

/// True if the host has to settle a right-hand side: all are at rest, or one has been for a while.
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
    if (iteration > c.settled_at && rr > 0)
      c.rate = std::clamp(std::pow(rr / c.rr, 1.0 / (iteration - c.settled_at)), 1e-3, 1.0);
    if (scalars_.get(n, "active") == 0.0) {
      one = one || ++c.waited > std::max(1, (iteration - c.settled_at) / 8);
    } else {
      all = false;
      if (rr > divergence * divergence * c.rr) c.trouble = "the residual diverges";
      if (iteration - c.least_at > patience) c.trouble = fmt::format("no progress in {} iterations", patience);
      one = one || !c.trouble.empty();
    }
  }
  if (iterations > 0 && task.options->observer) task.options->observer(iterations, largest);
  return all || one;
}

/// True if a right-hand side may come to rest within the iterations that would be enqueued ahead: they would be wasted.
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

void KrylovBatch::settle(Task& task, const std::vector<int>& positions) {
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
    if (run.count > 0) settle(task, run);
    run = {n, 1, correct(n)};
  }
  if (run.count > 0) settle(task, run);
}

void KrylovBatch::settle(Task& task, const Run& run) {
  const int index = task.columns[run.first].index;
  SpinorField x = task.x->slice(index, run.count), r = r_.slice(0, run.count), s = d_.slice(0, run.count);
  const SpinorField b = task.b->slice(index, run.count);
  std::vector<double> r_norms;
  if (!run.correct || !accept(task, run, x, r, r_norms)) {
    outer_->apply(r, x, Dagger::no);
    r_norms = roots(blas_.residuals(b, r));  // r = b - A x
  }
  std::vector<double> s_norms(run.count, 0.0);
  if (task.needs_normal) {
    outer_->apply(s, r, Dagger::yes);
    s_norms = roots(blas_.norms2(s));
  }
  for (int n = 0; n < run.count; ++n) {
    Column& c = task.columns[run.first + n];
    c.result.exact_applications += task.needs_normal ? 2 : 1;
    judge(task, c, r_norms[n], s_norms[n]);
  }
  SpinorField fresh = recurrence_->fresh().slice(run.first, run.count);
  transfer(recurrence_->normal() ? s : r, fresh);
  for (int n = run.first; n < run.first + run.count;) {  // those that go on in the same way, together
    const Column& c = task.columns[n];
    int end = n;
    for (; end < run.first + run.count; ++end) {
      const Column& other = task.columns[end];
      if (other.done != c.done || other.restart != c.restart) break;
      arm(task, end);
    }
    if (c.done) {
      scalars_.upload(n, end - n);
    } else if (c.restart) {
      recurrence_->start(n, end - n);
    } else {
      recurrence_->replace(n, end - n);
    }
    n = end;
  }
}

/// Adds the corrections of a run to x where that is sound; r becomes b - A x.
/// \return false if r has to be computed anew.
bool KrylovBatch::accept(Task& task, const Run& run, SpinorField& x, SpinorField& r, std::vector<double>& r_norms) {
  recurrence_->complete(run.first, run.count);
  SpinorField d = d_.slice(0, run.count);
  transfer(recurrence_->correction().slice(run.first, run.count), d);
  blas_.axpby(1.0, x, 1.0, d);  // x + y
  outer_->apply(r, d, Dagger::no);
  r_norms = roots(blas_.residuals(task.b->slice(task.columns[run.first].index, run.count), r));
  bool all = true;
  for (int n = 0; n < run.count; ++n) {
    Column& c = task.columns[run.first + n];
    const double before = c.result.residual * c.b_norm;
    const bool sound = std::isfinite(r_norms[n]) && r_norms[n] < 1e3 * before;
    if (sound && r_norms[n] > before && !c.saved) {  // x is the best so far
      if (!best_) best_ = std::make_unique<SpinorField>(r_.like());
      best_->slice(c.index, 1).copy_from(x.slice(n, 1));
      c.saved = true;
    }
    if (sound) {
      x.slice(n, 1).copy_from(d.slice(n, 1));
    } else {
      all = false;
      if (c.trouble.empty()) c.trouble = "the correction made the residual much larger";
    }
  }
  return all;
}

/// What becomes of a column with residual r and s = A^+ r.
void KrylovBatch::judge(Task& task, Column& c, double r, double s) const {
  const bool first = !std::isfinite(c.measured);
  const int position = static_cast<int>(&c - task.columns.data());
  const auto status = static_cast<Status>(static_cast<int>(scalars_.get(position, "status").real()));
  c.result.residual = r / c.b_norm;
  c.measured = (task.options->criterion == Criterion::normal ? s : r) / c.b_measure;
  const double norm = recurrence_->normal() ? s : r;
  c.rr = c.least = norm * norm;
  c.settled_at = c.least_at = c.seen;
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
  if (status == Status::breakdown) trouble = "breakdown: a denominator vanished";
  if (status == Status::not_finite) trouble = "a number was not finite";
  if (trouble.empty() && !first && c.measured > 0.9 * c.best) trouble = "the true residual stagnates";
  if (c.measured < c.best) c.best = c.measured, c.best_residual = c.result.residual;
  c.done = c.seen >= task.options->max_iterations || !std::isfinite(c.measured) || c.rr == 0;
  c.restart = first || !trouble.empty() || task.options->updates == Updates::defect;
  if (first) return;
  if (trouble.empty()) {
    ++c.result.replacements;
    // A direction of a recurrence that has lost its residual would lead astray.
    const double drift = norm / std::sqrt(scalars_.get(position, "rr").real());
    if (!c.restart && drift > most_drift) {
      c.restart = true;
      c.result.events.push_back(
          {c.seen, fmt::format("the residual is {:.1f} times that of the recurrence; restarted from it", drift)});
    }
    return;
  }
  c.done = c.done || ++c.failures > (uniform_ ? 1 : most_failures);
  c.result.events.push_back({c.seen, trouble + (c.done ? "; given up" : "; restarted from the last iterate")});
}

/// Sets the scalars with which a column goes on.
void KrylovBatch::arm(const Task& task, int position) {
  const Column& c = task.columns[position];
  const Updates updates = task.options->updates;
  // A little below the tolerance: the recurrence measures its own residual, perhaps in another norm.
  const double target = 0.9 * c.tolerance / c.measured;
  const bool falls = !uniform_ && updates != Updates::replacement;
  const double epsilon = !uniform_ && updates == Updates::replacement ? rounding(inner_->precision()) : 0;
  scalars_.set(position, "active", c.done ? 0 : 1);
  scalars_.set(position, "status", 0);
  scalars_.set(position, "target", target * target * c.rr);
  scalars_.set(position, "fall", falls ? task.delta * task.delta : 0);
  scalars_.set(position, "limit", task.options->max_iterations);
  scalars_.set(position, "epsilon", epsilon);
  scalars_.set(position, "root", std::sqrt(epsilon));
}

/// Takes leave of columns that are done; shrinks the batch when that saves a tile.
void KrylovBatch::compact(Task& task) {
  int live = 0;
  for (Column& c : task.columns) {
    live += !c.done;
    if (!c.done || c.index < 0) continue;
    if (c.saved && !c.result.converged) {
      task.x->slice(c.index, 1).copy_from(best_->slice(c.index, 1));
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
    for (SpinorField* f : recurrence_->state()) f->slice(hole, 1).copy_from(f->slice(last, 1));
    scalars_.copy(hole, last);
    std::swap(task.columns[hole], task.columns[last]);
  }
  task.columns.resize(live);
  task.width = live;
}

}  // namespace quarksmith
