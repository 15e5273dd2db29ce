#include "solvers/solve/set_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/rehearsal.hpp"
#include "solvers/actions/stored_term.hpp"
#include "solvers/eigen/deflation.hpp"
#include "solvers/solve/checked_norms.hpp"
#include "solvers/solve/few_sites.hpp"

namespace quarksmith {

SetSolver::SetSolver(const Action& action, const WorkingGauge& gauge, const DomainPointer& domain,
                     const SolveSettings& s)
    : course_{s, s.method == Method::automatic}, levels_(action, gauge, domain, s), system_(levels_, course_) {
  auto& [settings, falls_back] = course_;
  if (gauge.transformation && action.spins() != 4)
    throw UsageError(fmt::format("links '{}': temporal gauge is for Dirac spinors; use r18 or r12", s.links));
  check(s.options);
  check(s.method, s.parameters);
  if (!action.has_even_odd()) settings.even_odd_form = EvenOddForm::none;
  if (settings.deflation) check_deflation(gauge);
  if (settings.method->cycle_fields > 0 && (action.spins() != 4 || !action.info().chain.empty()))
    throw UsageError(
        fmt::format("solver {} with action {}: it is for M with M^+ = gamma_5 M gamma_5 on Dirac spinors; "
                    "use auto",
                    name_of(settings.method), action.name()));
  levels_.make();
  const StoredTerm* term = levels_.exact().stored_term();
  if (settings.even_odd_form != EvenOddForm::none && term != nullptr && !term->is_invertible())
    throw Error(fmt::format("the site term of {} is singular at a site; use other values, or {}",
                            action.values().text(), s.on_all_sites));
  const bool any_cg = falls_back || settings.method == Method::cg;
  if (settings.method->least_bits > levels_.precision.inner->bits)
    throw UsageError(fmt::format("solver {} in precision '{}': it iterates in single or double; use double-single",
                                 name_of(settings.method), settings.precision));
  if (any_cg && settings.even_odd_form != EvenOddForm::none &&
      levels_.exact().even_odd_operator(s.even_odd_form, 1)->hermitian()) {
    settings.method = Method::hermitian_cg;
    falls_back = false;
  } else if (falls_back) {
    settings.method = Method::bicgstab;
  }
}

void SetSolver::rehearse(const Action& action, const SolveSettings& settings, const Domain& domain, int colours) {
  const DomainPointer few = few_sites(domain);
  const HostGauge links = unit_gauge(few->lattice(), colours);
  SolveSettings on_few = settings;
  on_few.multigrid.reset();
  on_few.near_null.reset();
  on_few.sources = 0;
  on_few.tell = {};
  const WorkingGauge gauge(links, few, find_storage(settings.links));
  SetSolver trial(action.on(few->lattice()), gauge, few, on_few);
  trial.reserve(1);
  trial.levels_.blas();
  const auto& [outer, inner, lowest] = trial.levels_.precision;
  convert_both_ways(trial.levels_.exact().matrix(), {outer, inner, lowest});
}

void SetSolver::rehearse() const {
  rehearse(levels_.action(), course_.settings, *levels_.domain(), levels_.links().colours());
}

/// CG on the normal equations keeps out what the guess has; other methods bring it back.
void SetSolver::check_deflation(const WorkingGauge& gauge) {
  auto& [settings, falls_back] = course_;
  if (settings.from_guess)
    throw UsageError("eigenvectors give a first guess, and there is another; use one of the two");
  if (gauge.transformation)
    throw UsageError(
        fmt::format("links '{}': eigenvectors are not turned to temporal gauge; use r18 or r12", settings.links));
  if (!levels_.in_double())
    throw UsageError(
        fmt::format("precision '{}': eigenvectors serve residuals in double; use double, double-single, "
                    "double-half, ...",
                    settings.precision));
  if (falls_back) settings.method = Method::cg;
  falls_back = false;
}

/// Work space for so many right-hand sides.
void SetSolver::reserve(int rhs) {
  if (capacity_ >= rhs) return;
  capacity_ = 0;
  reduced_x_.reset();
  reduced_b_.reset();
  outer_x_.reset();
  outer_b_.reset();
  system_.reserve(rhs);
  if (settings().even_odd_form != EvenOddForm::none) {
    reduced_b_.emplace(system_.high().even_odd()->field(rhs));
    reduced_x_.emplace(reduced_b_->like());
  }
  if (!levels_.in_double()) {
    outer_b_.emplace(system_.high().matrix().field(rhs));
    outer_x_.emplace(outer_b_->like());
  }
  levels_.reserve();
  capacity_ = rhs;
}

void SetSolver::use(Method method, bool falls_back) {
  course_.settings.method = method;
  course_.falls_back = falls_back;
  capacity_ = 0;
}

/// Right-hand sides of the even-odd form, and the tolerances that it needs.
void SetSolver::reduce(IteratedSystem& s, const SpinorField& full_b, const std::vector<double>& b_norm) {
  system_.high().even_odd()->prepare(s.b, full_b);
  if (settings().options.criterion != Criterion::residual) return;
  const std::vector<double> reduced = Blas(s.b).norms2(s.b);
  for (std::size_t n = 0; n < s.columns.size(); ++n) {
    if (!(reduced[n] > 0)) continue;
    s.columns[n].scale = system_.high().even_odd()->residual_scale() * std::sqrt(reduced[n]) / b_norm[n];
    s.columns[n].tolerance /= s.columns[n].scale;
  }
}

/// Lowers the tolerances of right-hand sides whose true residual misses theirs; whether another attempt serves one.
bool SetSolver::tighten(std::span<SystemColumn> columns, const std::vector<double>& residuals) const {
  const SolverOptions& options = course_.settings.options;
  bool again = false;
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const SolverResult& r = columns[n].result;
    if (options.criterion == Criterion::normal || residuals[n] <= options.tolerance || !r.converged) continue;
    columns[n].tolerance = 0.5 * options.tolerance / residuals[n] * r.measured;
    again = again || (levels_.in_double() && r.iterations < options.max_iterations);
  }
  return again;
}

std::vector<SolveReport> SetSolver::reports_of(std::span<const SystemColumn> columns,
                                               const std::vector<double>& residuals, double elapsed) const {
  double flops = 0;
  for (const SystemColumn& c : columns) flops += c.flops;
  std::vector<SolveReport> reports(columns.size());
  for (std::size_t n = 0; n < columns.size(); ++n) {
    const SystemColumn& c = columns[n];
    const SolverResult& r = c.result;
    SolveReport& report = reports[n];
    report.iterations = r.iterations;
    report.method = c.method;
    report.precision = c.raised != nullptr ? precision_text(*c.raised) : course_.settings.precision;
    report.links = levels_.links_used();
    report.residual = residuals[n];
    report.measured = course_.settings.options.criterion == Criterion::normal ? r.measured : report.residual;
    report.converged = report.measured <= course_.settings.options.tolerance;
    report.seconds = flops > 0 ? elapsed * c.flops / flops : elapsed / static_cast<double>(columns.size());
    report.gflops = flops / elapsed * 1e-9;
    report.bytes_sent = c.bytes_sent;
    report.replacements = r.replacements;
    report.vectors = r.vectors;
    report.events = r.events;
  }
  return reports;
}

void SetSolver::prepare(int rhs) {
  const KernelRehearsal scope([this] { rehearse(); });
  reserve(rhs);
}

std::vector<SolveReport> SetSolver::solve(SpinorField& x, const SpinorField& b) {
  const KernelRehearsal scope([this] { rehearse(); });
  const int rhs = b.rhs();
  if (settings().method->cycle_fields > 0) reserve(rhs);  // the time of its setup is reported separately
  const double start = now();
  const std::vector<double> b_norm = checked_norms(b);
  reserve(rhs);
  if (!settings().from_guess) x.fill(0);
  SpinorField full_b = outer_b_ ? outer_b_->columns(0, rhs) : b.columns(0, rhs);
  SpinorField full_x = outer_x_ ? outer_x_->columns(0, rhs) : x.columns(0, rhs);
  if (outer_b_) {
    convert(b, full_b);
    convert(x, full_x);
  }
  std::vector<SystemColumn> columns(rhs, {.tolerance = settings().options.tolerance, .method = settings().method});
  IteratedSystem s{reduced_x_ ? reduced_x_->columns(0, rhs) : full_x.columns(0, rhs),
                   reduced_b_ ? reduced_b_->columns(0, rhs) : full_b.columns(0, rhs), columns};
  if (system_.high().even_odd() != nullptr) s.x.copy_half(Parity::even, full_x), reduce(s, full_b, b_norm);
  if (settings().deflation) settings().deflation->guess(s.x, s.b, system_.high().a(), system_.is_hermitian());
  std::vector<double> residuals;
  constexpr int attempts = 4;  // the reduced tolerance is an estimate
  for (int attempt = 0; attempt < attempts; ++attempt) {
    system_.solve(s, attempt);
    if (system_.high().even_odd() != nullptr) system_.high().even_odd()->reconstruct(full_x, s.x, full_b);
    if (outer_x_) convert(full_x, x);
    residuals = levels_.defects(x, b);
    for (int n = 0; n < rhs; ++n) residuals[n] /= b_norm[n];
    if (!tighten(columns, residuals)) break;
  }
  std::vector<SolveReport> reports = reports_of(columns, residuals, now() - start);
  if (learns_) learn(columns);
  return reports;
}

std::string SetSolver::precision_text(const PrecisionInfo& inner) const {
  const PrecisionInfo& outer = *levels_.precision.outer;
  return &inner == &outer ? std::string(inner.name) : fmt::format("{}-{}", outer.name, inner.name);
}

/// A precision of iterations that was left once would be again: the next one takes its place.
void SetSolver::learn(std::span<const SystemColumn> columns) {
  const auto raised = [](const SystemColumn& c) { return c.raised != nullptr; };
  Precisions& p = levels_.precision;
  if (p.inner == p.outer || std::none_of(columns.begin(), columns.end(), raised)) return;
  const PrecisionInfo* single = &find_precision("single");
  p.inner = p.lowest = p.inner->bits < single->bits ? single : p.outer;
  settings().precision = precision_text(*p.inner);
  capacity_ = 0;  // work space is made anew
}

}  // namespace quarksmith
