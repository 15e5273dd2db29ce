#include "solvers/solve/system_solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/column.hpp"
#include "solvers/solve/fine_system.hpp"

namespace quarksmith {
namespace {

bool is_cg(Method method) { return method == Method::cg || method == Method::hermitian_cg; }

}  // namespace

MethodParameters SystemSolver::parameters() const {
  MethodParameters all = settings().parameters;
  if (multigrid_) all.given = multigrid_.get();
  return all;
}

void SystemSolver::reserve(int rhs) {
  outer_solver_.reset();
  batch_.reset();
  high_.reset();
  low_.reset();
  preconditioner_.reset();
  const EvenOddForm even_odd_form = settings().even_odd_form;
  const DiracOperator& lowest = levels_.dirac(*precision().lowest);
  high_ = std::make_unique<SystemOperator>(levels_.high(), even_odd_form, rhs);
  low_ = std::make_unique<SystemOperator>(levels_.dirac(*precision().inner), even_odd_form, rhs);
  if (settings().method->cycle_fields > 0) make_multigrid(rhs);
  if (settings().method->outer_solver != nullptr)
    outer_solver_ = settings().method->outer_solver(
        {high_->a(), low_->a(), is_hermitian(), rhs, levels_.low_deviation()}, parameters());
  const auto& p = settings().parameters.preconditioner;
  if (p && p->schwarz && !part_alone_) part_alone_ = lowest.dirichlet();
  if (p && p->schwarz) preconditioner_ = std::make_unique<SystemOperator>(*part_alone_, even_odd_form, rhs);
  if (!(p && p->schwarz) && precision().lowest != precision().inner)
    preconditioner_ = std::make_unique<SystemOperator>(lowest, even_odd_form, rhs);
  capacity_ = rhs;
  batch(settings().method);
}

/// Cycles work in single, whatever iterations do.
void SystemSolver::make_multigrid(int rhs) {
  if (!multigrid_) {
    const DiracOperator& operators = levels_.dirac(find_precision("single"));
    const MultigridParameters chosen =
        settings().multigrid.value_or(multigrid_for(levels_.domain()->lattice(), operators.matrix().slices()));
    if (settings().tell) settings().tell(text_of(chosen, levels_.domain()->lattice()));
    const auto look = [this] {
      if (settings().options.observer) settings().options.observer(0, 1);
    };
    multigrid_ = std::make_unique<Multigrid>(
        [this](const PrecisionInfo& p, int n) {
          return std::make_unique<FineSystem>(levels_.dirac(p), settings().even_odd_form, n);
        },
        levels_.links().basis(), chosen, *precision().inner, settings().near_null.get(), look);
    if (settings().tell)
      settings().tell(fmt::format(
          "multigrid: set up in {:.3g} s with {} round{} of adaptation; a step reduces the residual by {:.3f}",
          multigrid_->setup_seconds(), multigrid_->rounds(), multigrid_->rounds() == 1 ? "" : "s",
          fmt::join(multigrid_->factors(), ", ")));
    if (settings().tell && !changes_parity(multigrid_->stencil()))
      settings().tell(
          fmt::format("multigrid: blocks are coupled to {} neighbours, some across corners: coarse levels "
                      "have no even-odd form",
                      multigrid_->stencil().size()));
  }
  multigrid_->reserve(rhs);
}

/// The recurrences of a method; those of another one are released.
KrylovBatch& SystemSolver::batch(Method method) {
  if (!batch_ || batch_method_ != method) {
    batch_.reset();
    batch_ = std::make_unique<KrylovBatch>(high_->a(), low_->a(), method, capacity_, parameters(),
                                           preconditioner_ ? &preconditioner_->a() : nullptr, levels_.low_deviation());
    batch_->hand_over(course_.falls_back && method == settings().method);
    const bool leaves = precision().inner->bits < 24 || is_cg(method);
    batch_->raised_when_lost(!(course_.falls_back && method == settings().method) && leaves &&
                             precision().inner->bits < precision().outer->bits);
    batch_method_ = method;
  }
  return *batch_;
}

/// Solves from the present x and adds to the results.
void SystemSolver::iterate(IteratedSystem s, KrylovBatch& krylov, const LinearOperator& low_a) {
  SolverOptions options = settings().options;
  if (options.observer) {
    double scale = 0;
    for (const SystemColumn& c : s.columns) scale = std::max(scale, c.scale);
    options.observer = [=, outer = options.observer](int iteration, double r) { outer(iteration, r * scale); };
  }
  if (options.rhs_observer)
    options.rhs_observer = [&, outer = options.rhs_observer](int n, int iteration, double r) {
      outer(s.first + n, s.columns[n].result.iterations + iteration, r * s.columns[n].scale);
    };
  std::vector<double> tolerances;
  for (const SystemColumn& c : s.columns) tolerances.push_back(c.tolerance);
  const auto add = [&](const std::vector<SolverResult>& more) {
    for (std::size_t n = 0; n < more.size(); ++n) {
      SystemColumn& c = s.columns[n];
      c.flops += more[n].applications * low_a.flops() + more[n].exact_applications * high_->a().flops();
      const int sending = part_alone_ ? more[n].iterations : more[n].applications;
      c.bytes_sent += sending * low_a.bytes_sent() + more[n].exact_applications * high_->a().bytes_sent();
      c.result.append(more[n]);
    }
  };
  const auto timed = [&](auto& solver, const auto& solve) {
    const double seconds_before = solver.seconds(), host_before = solver.host_seconds();
    add(solve());
    seconds_ += solver.seconds() - seconds_before;
    host_seconds_ += solver.host_seconds() - host_before;
  };
  if (outer_solver_ && &krylov == batch_.get())
    timed(*outer_solver_, [&] { return outer_solver_->improve(s.x, s.b, options, tolerances); });
  std::vector<int> limits;
  for (const SystemColumn& c : s.columns) limits.push_back(options.max_iterations - c.result.iterations);
  timed(krylov, [&] { return krylov.solve(s.x, s.b, options, tolerances, {}, limits); });
}

/// Iterates on the chosen right-hand sides: neighbours together, as many as `krylov` takes.
void SystemSolver::iterate_chosen(IteratedSystem& s, const Chosen& chosen, KrylovBatch& krylov,
                                  const LinearOperator& low_a) {
  const int rhs = static_cast<int>(s.columns.size());
  std::vector<char> mine;
  for (const SystemColumn& c : s.columns) mine.push_back(chosen(c));
  for (int first = 0, count; first < rhs; first += std::max(count, 1)) {
    for (count = 0; first + count < rhs && count < krylov.capacity() && mine[first + count];) ++count;
    if (count > 0) iterate(s.part(first, count), krylov, low_a);
  }
}

/// True if a right-hand side can continue with another method or precision.
bool SystemSolver::failed(const SystemColumn& c) const {
  const SolverResult& r = c.result;
  return !r.converged && r.iterations < settings().options.max_iterations && std::isfinite(r.measured);
}

/// Goes on by CG on the normal equations with right-hand sides that the first method has given up.
void SystemSolver::fall_back(IteratedSystem& s) {
  const auto given_up = [&](const SystemColumn& c) {
    return failed(c) && c.method == settings().method && !c.result.trouble.empty();
  };
  if (std::none_of(s.columns.begin(), s.columns.end(), given_up)) return;
  std::string answer = "goes on with cg on the normal equations";
  KrylovBatch* cg = nullptr;
  try {
    cg = &batch(Method::cg);
  } catch (const MissingKernel& e) {
    answer = fmt::format("given up, as this build lacks a kernel for cg: {}", e.what());
  }
  // Where the precision of residuals is the limit no method gets further.
  const double least = 10 * attainable(*precision().outer);
  std::vector<const SystemColumn*> going_on;
  for (SystemColumn& c : s.columns) {
    if (!given_up(c)) continue;
    const bool limit = c.result.measured < least;
    c.result.events.push_back(
        {c.result.iterations, fmt::format("{}: {} at residual {:.1e}; {}", name_of(c.method), c.result.trouble,
                                          c.result.measured * c.scale, limit ? "given up" : answer)});
    if (cg == nullptr || limit) continue;
    c.method = Method::cg;
    going_on.push_back(&c);
  }
  const auto mine = [&](const SystemColumn& c) { return std::count(going_on.begin(), going_on.end(), &c) > 0; };
  if (cg != nullptr) iterate_chosen(s, mine, *cg, low_->a());
}

/// Goes on with the right-hand sides that failed in the next higher precisions.
void SystemSolver::raise_precision(IteratedSystem& s) {
  const PrecisionInfo* present = precision().inner;
  for (const PrecisionInfo* next : {&find_precision("single"), precision().outer}) {
    const bool last = next == precision().outer;
    const bool exact_links = last && levels_.in_double() && levels_.exact_differs();
    if (next->bits > precision().outer->bits) continue;
    if (next->bits < present->bits || (present == next && !exact_links)) continue;
    const auto event_text = [](const SystemColumn& c, const std::string& answer) {
      return c.result.trouble.empty() ? answer : c.result.trouble + "; " + answer;
    };
    const std::string raised =
        present == next ? "links raised to 18 reals" : fmt::format("precision raised to {}", next->name);
    present = next;
    // Where the normal equations are too much for half, single takes more iterations than double takes time.
    const auto fails = [&](const SystemColumn& c) { return failed(c) && (last || c.result.trouble != drifted); };
    if (std::none_of(s.columns.begin(), s.columns.end(), fails)) continue;
    const KernelQuery needed = {
        .operation = "measure", .precision = next->name, .colours = levels_.high().matrix().components().colours};
    if (try_find(levels_.domain()->device().kernels(), needed) == nullptr) continue;
    const SystemOperator level(last ? levels_.high() : levels_.dirac(*next), settings().even_odd_form, 1);
    for (SystemColumn& c : s.columns)
      if (fails(c)) c.result.events.push_back({c.result.iterations, event_text(c, raised)}), c.raised = next;
    for (const Method method : {settings().method, Method::cg}) {
      const auto mine = [&](const SystemColumn& c) { return fails(c) && c.method == method; };
      if (std::none_of(s.columns.begin(), s.columns.end(), mine)) continue;
      KrylovBatch krylov(high_->a(), level.a(), method, 1, parameters(), nullptr, last ? 0 : levels_.low_deviation());
      krylov.raised_when_lost(!last && is_cg(method));
      iterate_chosen(s, mine, krylov, level.a());
      if (method == Method::cg) break;
    }
  }
}

void SystemSolver::solve(IteratedSystem& s, int attempt) {
  for (const Method method : {Method::cg, settings().method}) {
    if (attempt == 0 && method != settings().method) continue;
    const auto mine = [&](const SystemColumn& c) { return c.method == method; };
    if (std::any_of(s.columns.begin(), s.columns.end(), mine)) iterate_chosen(s, mine, batch(method), low_->a());
    if (method == settings().method) break;
  }
  if (course_.falls_back) fall_back(s);
  raise_precision(s);
}

}  // namespace quarksmith
