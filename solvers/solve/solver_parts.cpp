// A solve from end to end: precisions, reduction, methods one after the other, true residuals.
#include "solvers/solve/solver_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "solvers/eigen/deflation.hpp"
#include "solvers/krylov/column.hpp"
#include "solvers/solve/few_sites.hpp"
#include "solvers/solve/usable_norm.hpp"

namespace quarksmith {
namespace {

bool is_cg(Method method) { return method == Method::cg || method == Method::hermitian_cg; }

}  // namespace

Solver::Parts::Parts(const Action& a, WorkingGauge gauge, const DomainPointer& d, const SolveSettings& s)
    : settings(s),
      falls_back(s.method == Method::automatic),
      action(a),
      precision(precisions_of(s.precision, s.parameters.preconditioner ? 3 : 2)),
      working_gauge(std::move(gauge)),
      domain(d),
      links(working_gauge.store(d, s.links, s.basis)) {
  if (working_gauge.transformation && action.spins() != 4)
    throw UsageError(fmt::format("links '{}': temporal gauge is for Dirac spinors; use r18 or r12", s.links));
  check(s.options);
  check(s.method, s.parameters);
  if (!action.has_even_odd()) settings.reduction = Reduction::none;
  if (settings.deflation) check_deflation();
  if (settings.method->cycle_fields > 0 && (action.spins() != 4 || !action.info().chain.empty()))
    throw UsageError(
        fmt::format("solver {} with action {}: it is for M with M^+ = gamma_5 M gamma_5 on Dirac spinors; "
                    "use auto",
                    name_of(settings.method), action.name()));
  make_operators();
  const bool any_cg = falls_back || settings.method == Method::cg;
  if (settings.method->least_bits > precision.inner->bits)
    throw UsageError(fmt::format("solver {} in precision '{}': it iterates in single or double; use double-single",
                                 name_of(settings.method), settings.precision));
  if (any_cg && settings.reduction != Reduction::none && exact().reduced(s.reduction, 1)->hermitian()) {
    settings.method = Method::hermitian_cg;
    falls_back = false;
  } else if (falls_back) {
    settings.method = Method::bicgstab;
  }
  weigh();
}

void Solver::Parts::rehearse(const Action& action, const SolveSettings& settings, const Domain& domain, int colours) {
  const DomainPointer few = few_sites(domain);
  const HostGauge links = unit_gauge(few->lattice(), colours);
  SolveSettings on_few = settings;
  on_few.multigrid.reset();
  on_few.near_null.reset();
  on_few.sources = 0;
  on_few.tell = {};
  Parts trial(action, WorkingGauge(links, few, find_storage(settings.links)), few, on_few);
  trial.reserve(1);
  trial.blas();
  const auto& [outer, inner, lowest] = trial.precision;
  convert_both_ways(trial.exact().matrix(), {outer, inner, lowest});
}

/// CG on the normal equations keeps out what the guess has; other methods bring it back.
void Solver::Parts::check_deflation() {
  if (settings.from_guess)
    throw UsageError("eigenvectors give a first guess, and there is another; use one of the two");
  if (working_gauge.transformation)
    throw UsageError(
        fmt::format("links '{}': eigenvectors are not turned to temporal gauge; use r18 or r12", settings.links));
  if (!in_double())
    throw UsageError(
        fmt::format("precision '{}': eigenvectors serve residuals in double; use double, double-single, "
                    "double-half, ...",
                    settings.precision));
  if (falls_back) settings.method = Method::cg;
  falls_back = false;
}

/// Where the storage misses the links by more than rounding, the outermost operator in double has all 18 reals.
void Solver::Parts::make_operators() {
  deviation = action.deviation(links);
  const auto make = [&](const LinkStore& l, const PrecisionInfo& precision) { return action.make(l, precision); };
  if (!deviation.negligible()) exact_ = make_exact(links, deviation, make);
  exact();
  high();
  for (const PrecisionInfo* p : {precision.inner, precision.lowest}) dirac(*p);
  links.release();  // the site terms are made
}

std::string Solver::Parts::links_used() const {
  return exact_ ? links_text(links.exact().storage(), links.storage()) : links.storage();
}

const DiracOperator& Solver::Parts::dirac(const PrecisionInfo& in) {
  auto& made = operators_[&in];
  if (!made) made = action.make(links, in);
  return *made;
}

const Blas& Solver::Parts::blas() {
  if (!blas_) blas_.emplace(exact().matrix());
  return *blas_;
}

std::vector<double> Solver::Parts::defects(const SpinorField& x, const SpinorField& b) {
  const LinearOperator& matrix = exact().matrix();
  if (!residual_) residual_.emplace(matrix.field());
  std::vector<double> norms;
  for (int n = 0; n < b.rhs(); ++n) {
    matrix.apply(*residual_, x.columns(n, 1), Dagger::no);
    norms.push_back(std::sqrt(blas().residual(b.columns(n, 1), *residual_)));
  }
  return norms;
}

/// Work space for so many right-hand sides.
void Solver::Parts::reserve(int rhs) {
  if (capacity_ >= rhs) return;
  capacity_ = 0;
  improver_.reset();
  batch_.reset();
  high_.reset();
  low_.reset();
  preconditioner_.reset();
  reduced_x_.reset();
  reduced_b_.reset();
  outer_x_.reset();
  outer_b_.reset();
  high_ = std::make_unique<SystemOperator>(high(), settings.reduction, rhs);
  low_ = std::make_unique<SystemOperator>(dirac(*precision.inner), settings.reduction, rhs);
  if (settings.method->cycle_fields > 0) make_multigrid(rhs);
  if (settings.method->improver != nullptr)
    improver_ =
        settings.method->improver({high_->a(), low_->a(), is_hermitian(), rhs, low_deviation()}, settings.parameters);
  const auto& p = settings.parameters.preconditioner;
  if (p && p->schwarz && !part_alone_) part_alone_ = dirac(*precision.lowest).dirichlet();
  if (p && p->schwarz) preconditioner_ = std::make_unique<SystemOperator>(*part_alone_, settings.reduction, rhs);
  if (!(p && p->schwarz) && precision.lowest != precision.inner)
    preconditioner_ = std::make_unique<SystemOperator>(dirac(*precision.lowest), settings.reduction, rhs);
  if (settings.reduction != Reduction::none) {
    reduced_b_.emplace(high_->even_odd()->field(rhs));
    reduced_x_.emplace(reduced_b_->like());
  }
  if (!in_double()) {
    outer_b_.emplace(high_->matrix().field(rhs));
    outer_x_.emplace(outer_b_->like());
  }
  if (!residual_) residual_.emplace(exact().matrix().field());
  capacity_ = rhs;
  batch(settings.method);
}

/// The recurrences of a method; those of another one are released.
KrylovBatch& Solver::Parts::batch(Method method) {
  if (!batch_ || batch_method_ != method) {
    batch_.reset();
    batch_ = std::make_unique<KrylovBatch>(high_->a(), low_->a(), method, capacity_, settings.parameters,
                                           preconditioner_ ? &preconditioner_->a() : nullptr, low_deviation());
    batch_->hand_over(falls_back && method == settings.method);
    const bool leaves = precision.inner->bits < 24 || is_cg(method);
    batch_->raised_when_lost(!(falls_back && method == settings.method) && leaves &&
                             precision.inner->bits < precision.outer->bits);
    batch_method_ = method;
  }
  return *batch_;
}

/// Solves from the present x and adds to the results.
void Solver::Parts::iterate(System s, KrylovBatch& krylov, const LinearOperator& low_a) {
  SolverOptions options = settings.options;
  if (options.observer) {
    double scale = 0;
    for (const Column& c : s.columns) scale = std::max(scale, c.scale);
    options.observer = [=, outer = options.observer](int iteration, double r) { outer(iteration, r * scale); };
  }
  if (options.rhs_observer)
    options.rhs_observer = [&, outer = options.rhs_observer](int n, int iteration, double r) {
      outer(s.first + n, s.columns[n].result.iterations + iteration, r * s.columns[n].scale);
    };
  std::vector<double> tolerances;
  for (const Column& c : s.columns) tolerances.push_back(c.tolerance);
  const auto add = [&](const std::vector<SolverResult>& more) {
    for (std::size_t n = 0; n < more.size(); ++n) {
      Column& c = s.columns[n];
      c.flops += more[n].applications * low_a.flops() + more[n].exact_applications * high_->a().flops();
      const int sending = part_alone_ ? more[n].iterations : more[n].applications;
      c.bytes_sent += sending * low_a.bytes_sent() + more[n].exact_applications * high_->a().bytes_sent();
      c.result.append(more[n]);
    }
  };
  const auto timed = [&](auto& solver, const auto& solve) {
    const double seconds_before = solver.seconds(), host_before = solver.host_seconds();
    add(solve());
    seconds += solver.seconds() - seconds_before;
    host_seconds += solver.host_seconds() - host_before;
  };
  if (improver_ && &krylov == batch_.get())
    timed(*improver_, [&] { return improver_->improve(s.x, s.b, options, tolerances); });
  std::vector<int> limits;
  for (const Column& c : s.columns) limits.push_back(options.max_iterations - c.result.iterations);
  timed(krylov, [&] { return krylov.solve(s.x, s.b, options, tolerances, {}, limits); });
}

/// The same for some of the right-hand sides: neighbours together, as many as `krylov` takes.
void Solver::Parts::iterate_chosen(System& s, const Chosen& chosen, KrylovBatch& krylov, const LinearOperator& low_a) {
  const int rhs = static_cast<int>(s.columns.size());
  std::vector<char> mine;
  for (const Column& c : s.columns) mine.push_back(chosen(c));
  for (int first = 0, count; first < rhs; first += std::max(count, 1)) {
    for (count = 0; first + count < rhs && count < krylov.capacity() && mine[first + count];) ++count;
    if (count > 0) iterate(s.part(first, count), krylov, low_a);
  }
}

/// True if a right-hand side can go on otherwise.
bool Solver::Parts::failed(const Column& c) const {
  const SolverResult& r = c.result;
  return !r.converged && r.iterations < settings.options.max_iterations && std::isfinite(r.measured);
}

/// Goes on by CG on the normal equations with right-hand sides that the first method has given up.
void Solver::Parts::fall_back(System& s) {
  const auto given_up = [&](const Column& c) {
    return failed(c) && c.method == settings.method && !c.result.trouble.empty();
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
  const double least = 10 * attainable(*precision.outer);
  std::vector<const Column*> going_on;
  for (Column& c : s.columns) {
    if (!given_up(c)) continue;
    const bool limit = c.result.measured < least;
    c.result.events.push_back(
        {c.result.iterations, fmt::format("{}: {} at residual {:.1e}; {}", name_of(c.method), c.result.trouble,
                                          c.result.measured * c.scale, limit ? "given up" : answer)});
    if (cg == nullptr || limit) continue;
    c.method = Method::cg;
    going_on.push_back(&c);
  }
  const auto mine = [&](const Column& c) { return std::count(going_on.begin(), going_on.end(), &c) > 0; };
  if (cg != nullptr) iterate_chosen(s, mine, *cg, low_->a());
}

/// Goes on with the right-hand sides that failed in the next higher precisions.
void Solver::Parts::raise_precision(System& s) {
  const PrecisionInfo* present = precision.inner;
  for (const PrecisionInfo* next : {&find_precision("single"), precision.outer}) {
    const bool last = next == precision.outer, exact_links = last && in_double() && exact_;
    if (next->bits > precision.outer->bits) continue;
    if (next->bits < present->bits || (present == next && !exact_links)) continue;
    const auto told = [](const Column& c, const std::string& answer) {
      return c.result.trouble.empty() ? answer : c.result.trouble + "; " + answer;
    };
    const std::string raised =
        present == next ? "links raised to 18 reals" : fmt::format("precision raised to {}", next->name);
    present = next;
    // Where the normal equations are too much for half, single takes more iterations than double takes time.
    const auto fails = [&](const Column& c) { return failed(c) && (last || c.result.trouble != drifted); };
    if (std::none_of(s.columns.begin(), s.columns.end(), fails)) continue;
    const KernelQuery needed = {
        .operation = "measure", .precision = next->name, .colours = high().matrix().components().colours};
    if (try_find(domain->device().kernels(), needed) == nullptr) continue;
    const SystemOperator level(last ? high() : dirac(*next), settings.reduction, 1);
    for (Column& c : s.columns)
      if (fails(c)) c.result.events.push_back({c.result.iterations, told(c, raised)}), c.raised = next;
    for (const Method method : {settings.method, Method::cg}) {
      const auto mine = [&](const Column& c) { return fails(c) && c.method == method; };
      if (std::none_of(s.columns.begin(), s.columns.end(), mine)) continue;
      KrylovBatch krylov(high_->a(), level.a(), method, 1, settings.parameters, nullptr, last ? 0 : low_deviation());
      krylov.raised_when_lost(!last && is_cg(method));
      iterate_chosen(s, mine, krylov, level.a());
      if (method == Method::cg) break;
    }
  }
}

/// Right-hand sides of the reduced system, and the tolerances that it needs.
void Solver::Parts::prepare(System& s, const SpinorField& full_b, const std::vector<double>& b_norm) {
  high_->even_odd()->prepare(s.b, full_b);
  if (settings.options.criterion != Criterion::residual) return;
  const std::vector<double> reduced = Blas(s.b).norms2(s.b);
  for (std::size_t n = 0; n < s.columns.size(); ++n) {
    if (!(reduced[n] > 0)) continue;
    s.columns[n].scale = high_->even_odd()->residual_scale() * std::sqrt(reduced[n]) / b_norm[n];
    s.columns[n].tolerance /= s.columns[n].scale;
  }
}

/// Iterates with each right-hand side's own method, and answers what goes wrong.
void Solver::Parts::improve(System& s, int attempt) {
  for (const Method method : {Method::cg, settings.method}) {
    if (attempt == 0 && method != settings.method) continue;
    const auto mine = [&](const Column& c) { return c.method == method; };
    if (std::any_of(s.columns.begin(), s.columns.end(), mine)) iterate_chosen(s, mine, batch(method), low_->a());
    if (method == settings.method) break;
  }
  if (falls_back) fall_back(s);
  raise_precision(s);
}

/// Lowers the tolerances of right-hand sides whose true residual misses theirs; whether another attempt serves one.
bool Solver::Parts::tighten(std::span<Column> columns, const std::vector<double>& residuals) const {
  const SolverOptions& options = settings.options;
  bool again = false;
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const SolverResult& r = columns[n].result;
    if (options.criterion == Criterion::normal || residuals[n] <= options.tolerance || !r.converged) continue;
    columns[n].tolerance = 0.5 * options.tolerance / residuals[n] * r.measured;
    again = again || (in_double() && r.iterations < options.max_iterations);
  }
  return again;
}

std::vector<SolveReport> Solver::Parts::reports_of(std::span<const Column> columns,
                                                   const std::vector<double>& residuals, double elapsed) const {
  double flops = 0;
  for (const Column& c : columns) flops += c.flops;
  std::vector<SolveReport> reports(columns.size());
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const Column& c = columns[n];
    const SolverResult& r = c.result;
    SolveReport& report = reports[n];
    report.iterations = r.iterations;
    report.method = c.method;
    report.precision = c.raised != nullptr ? precision_text(*c.raised) : settings.precision;
    report.links = links_used();
    report.residual = residuals[n];
    report.measured = settings.options.criterion == Criterion::normal ? r.measured : report.residual;
    report.converged = report.measured <= settings.options.tolerance;
    report.seconds = flops > 0 ? elapsed * c.flops / flops : elapsed / static_cast<double>(columns.size());
    report.gflops = flops / elapsed * 1e-9;
    report.bytes_sent = c.bytes_sent;
    report.replacements = r.replacements;
    report.vectors = r.vectors;
    report.events = r.events;
  }
  return reports;
}

void Solver::Parts::prepare(int rhs) {
  const KernelRehearsal scope([this] { rehearse(action, settings, *domain, links.colours()); });
  reserve(rhs);
}

std::vector<SolveReport> Solver::Parts::solve_as_set(SpinorField& x, const SpinorField& b) {
  const KernelRehearsal scope([this] { rehearse(action, settings, *domain, links.colours()); });
  const int rhs = b.rhs();
  if (settings.method->cycle_fields > 0) reserve(rhs);  // the time of its setup is told by itself
  const double start = now();
  const std::vector<double> b_norm = usable_norms(b);
  reserve(rhs);
  if (!settings.from_guess) x.fill(0);
  SpinorField full_b = outer_b_ ? outer_b_->columns(0, rhs) : b.columns(0, rhs);
  SpinorField full_x = outer_x_ ? outer_x_->columns(0, rhs) : x.columns(0, rhs);
  if (outer_b_) {
    convert(b, full_b);
    convert(x, full_x);
  }
  std::vector<Column> columns(rhs, {.tolerance = settings.options.tolerance, .method = settings.method});
  System s{reduced_x_ ? reduced_x_->columns(0, rhs) : full_x.columns(0, rhs),
           reduced_b_ ? reduced_b_->columns(0, rhs) : full_b.columns(0, rhs), columns};
  if (high_->even_odd() != nullptr) s.x.copy_half(Parity::even, full_x), prepare(s, full_b, b_norm);
  if (settings.deflation) settings.deflation->guess(s.x, s.b, high_->a(), is_hermitian());
  std::vector<double> residuals;
  constexpr int attempts = 4;  // the reduced tolerance is an estimate
  for (int attempt = 0; attempt < attempts; ++attempt) {
    improve(s, attempt);
    if (high_->even_odd() != nullptr) high_->even_odd()->reconstruct(full_x, s.x, full_b);
    if (outer_x_) convert(full_x, x);
    residuals = defects(x, b);
    for (int n = 0; n < rhs; ++n) residuals[n] /= b_norm[n];
    if (!tighten(columns, residuals)) break;
  }
  std::vector<SolveReport> reports = reports_of(columns, residuals, now() - start);
  if (learns) learn(columns);
  return reports;
}

}  // namespace quarksmith
