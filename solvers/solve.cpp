#include "solvers/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "runtime/error.hpp"
#include "solvers/blas.hpp"
#include "solvers/block_cg.hpp"
#include "solvers/working_gauge.hpp"

namespace quarksmith {

Reduction reduction_of(const std::string& name) {
  if (name == "none") return Reduction::none;
  if (name == "symmetric") return Reduction::symmetric;
  if (name == "asymmetric") return Reduction::asymmetric;
  throw UnknownName(fmt::format("even-odd form '{}' is unknown; use symmetric, asymmetric or none", name));
}

Updates updates_of(const std::string& name) {
  if (name == "reliable") return Updates::reliable;
  if (name == "replacement") return Updates::replacement;
  if (name == "defect") return Updates::defect;
  throw UsageError(fmt::format("--updates '{}' is unknown; use reliable, replacement or defect", name));
}

namespace {

/// The operator in one precision, in the form that the method iterates with.
struct Level {
  Level(const DiracOperator& dirac, Reduction reduction, int rhs) : matrix(&dirac.matrix()) {
    if (reduction != Reduction::none) even_odd = dirac.reduced(reduction, rhs);
  }
  const LinearOperator& a() const { return even_odd ? *even_odd : *matrix; }

  const LinearOperator* matrix;
  std::unique_ptr<ReducedOperator> even_odd;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

struct Solver::Parts {
  Parts(std::shared_ptr<const Action> a, const HostGauge& gauge, const DomainPointer& d, const SolveSettings& s)
      : settings(s),
        action(std::move(a)),
        working_gauge(gauge, d, find_storage(s.links)),
        domain(d),
        links(working_gauge.gauge, d, s.links, s.basis) {
    if (working_gauge.transformation && action->spins() != 4)
      throw UsageError(fmt::format("links '{}': temporal gauge is for Dirac spinors; use r18 or r12", s.links));
    if (s.options.max_iterations < 1)
      throw UsageError(fmt::format("{} iterations at most; use at least 1", s.options.max_iterations));
    if (!(s.options.tolerance > 0))
      throw UsageError(fmt::format("tolerance {}; use a positive number", s.options.tolerance));
    if (!(s.options.delta >= 0 && s.options.delta < 1))
      throw UsageError(fmt::format("delta {}; use a number between 0 and 1", s.options.delta));
    check(s.method, s.parameters);
    choose_precisions();
    for (const std::string& name : {std::string("double"), outer, inner, lowest}) dirac(name);
    links.release();  // the site terms are made
    if (settings.method == Method::cg && settings.reduction != Reduction::none &&
        dirac("double").reduced(settings.reduction, 1)->hermitian())
      settings.method = Method::hermitian_cg;
  }

  /// Each no higher than the one before; what is not given is as the one before.
  void choose_precisions() {
    std::string* const names[] = {&outer, &inner, &lowest};
    std::size_t at = 0;
    for (int given = 0; at != std::string::npos; ++given) {
      const std::size_t dash = settings.precision.find('-', at);
      const std::string name = settings.precision.substr(at, dash - at);
      at = dash == std::string::npos ? dash : dash + 1;
      if (given == 3 || (given == 2 && !settings.parameters.preconditioner))
        throw UsageError(fmt::format("precision '{}': the third is that of a preconditioner, which there is not",
                                     settings.precision));
      if (given > 0 && find_precision(name).bits > find_precision(*names[given - 1]).bits)
        throw UsageError(
            fmt::format("precision '{}': the second must not be higher than the first", settings.precision));
      for (int n = given; n < 3; ++n) *names[n] = name;
    }
  }

  /// The operator for fields of a precision, made when first asked for.
  const DiracOperator& dirac(const std::string& name) {
    auto& made = operators[name];
    if (!made) made = action->make(links, find_precision(name));
    return *made;
  }

  /// Work space for so many right-hand sides.
  void reserve(int rhs) {
    if (batch && batch->capacity() >= rhs) return;
    block.reset();
    batch.reset();
    high.reset();
    low.reset();
    preconditioner.reset();
    reduced_x.reset();
    reduced_b.reset();
    outer_x.reset();
    outer_b.reset();
    high = std::make_unique<Level>(dirac(outer), settings.reduction, rhs);
    low = std::make_unique<Level>(dirac(inner), settings.reduction, rhs);
    if (settings.method == Method::block_cg)
      block = std::make_unique<BlockConjugateGradients>(high->a(), low->a(), rhs);
    const auto& p = settings.parameters.preconditioner;
    if (p && p->schwarz && !part_alone) part_alone = dirac(lowest).cut();
    if (p && p->schwarz) preconditioner = std::make_unique<Level>(*part_alone, settings.reduction, rhs);
    if (!(p && p->schwarz) && lowest != inner)
      preconditioner = std::make_unique<Level>(dirac(lowest), settings.reduction, rhs);
    batch = std::make_unique<KrylovBatch>(high->a(), low->a(), settings.method, rhs, settings.parameters,
                                          preconditioner ? &preconditioner->a() : nullptr);
    if (settings.reduction != Reduction::none) {
      reduced_b.emplace(high->even_odd->field(rhs));
      reduced_x.emplace(reduced_b->like());
    }
    if (outer != "double") {
      outer_b.emplace(high->matrix->field(rhs));
      outer_x.emplace(outer_b->like());
    }
    if (!residual) residual.emplace(dirac("double").matrix().field());
  }

  /// |b - M x| of each right-hand side in double.
  std::vector<double> defects(const SpinorField& x, const SpinorField& b) {
    const LinearOperator& matrix = dirac("double").matrix();
    if (!residual) residual.emplace(matrix.field());
    std::vector<double> norms;
    for (int n = 0; n < b.rhs(); ++n) {
      matrix.apply(*residual, x.slice(n, 1), Dagger::no);
      norms.push_back(std::sqrt(blas().residual(b.slice(n, 1), *residual)));
    }
    return norms;
  }
  const Blas& blas() {
    if (!blas_) blas_.emplace(dirac("double").matrix());
    return *blas_;
  }

  std::vector<SolveReport> solve(SpinorField& x, const SpinorField& b);
  struct System;
  void iterate(System& system, KrylovBatch& krylov, const LinearOperator& low_a);
  void raise_precision(System& system);

  SolveSettings settings;
  std::shared_ptr<const Action> action;
  std::string outer, inner, lowest;  ///< precisions: of residuals, of iterations, of the preconditioner
  WorkingGauge working_gauge;
  DomainPointer domain;
  LinkStore links;
  std::map<std::string, std::unique_ptr<DiracOperator>> operators;  ///< by precision
  std::unique_ptr<DiracOperator> part_alone;                        ///< of a Schwarz preconditioner
  std::unique_ptr<Level> high, low, preconditioner;
  std::unique_ptr<KrylovBatch> batch;
  std::unique_ptr<BlockConjugateGradients> block;  ///< runs before `batch`, with Method::block_cg
  std::optional<SpinorField> reduced_x, reduced_b, outer_x, outer_b, residual;
  double seconds = 0, host_seconds = 0;

 private:
  std::optional<Blas> blas_;
};

/// The system that is iterated on, and what became of its right-hand sides.
struct Solver::Parts::System {
  SpinorField x, b;
  std::vector<double> tolerance;  ///< of the reduced residual
  std::vector<double> scale;      ///< relative residual of the full system over that of the reduced one
  std::vector<SolverResult> results;
  std::vector<double> flops, bytes_sent;
};

/// Solves from the present x and adds to the results.
void Solver::Parts::iterate(System& s, KrylovBatch& krylov, const LinearOperator& low_a) {
  SolverOptions options = settings.options;
  if (options.observer)
    options.observer = [&, outer = options.observer](int iteration, double r) {
      outer(iteration, r * *std::max_element(s.scale.begin(), s.scale.end()));
    };
  if (options.rhs_observer)
    options.rhs_observer = [&, outer = options.rhs_observer](int n, int iteration, double r) {
      outer(n, s.results[n].iterations + iteration, r * s.scale[n]);
    };
  const auto add = [&](const std::vector<SolverResult>& more) {
    for (std::size_t n = 0; n < more.size(); ++n) {
      s.flops[n] += more[n].applications * low_a.flops() + more[n].exact_applications * high->a().flops();
      const int sending = part_alone ? more[n].iterations : more[n].applications;
      s.bytes_sent[n] += sending * low_a.bytes_sent() + more[n].exact_applications * high->a().bytes_sent();
      s.results[n].append(more[n]);
    }
  };
  const auto timed = [&](auto& solver, const auto& solve) {
    const double seconds_before = solver.seconds(), host_before = solver.host_seconds();
    add(solve());
    seconds += solver.seconds() - seconds_before;
    host_seconds += solver.host_seconds() - host_before;
  };
  if (block && &krylov == batch.get()) {
    timed(*block, [&] { return block->improve(s.x, s.b, options, s.tolerance); });
    for (const SolverResult& r : s.results)
      options.max_iterations =
          std::max(1, std::min(options.max_iterations, settings.options.max_iterations - r.iterations));
  }
  timed(krylov, [&] { return krylov.solve(s.x, s.b, options, s.tolerance); });
}

/// Goes on with the right-hand sides that failed in the next higher precisions.
void Solver::Parts::raise_precision(System& s) {
  std::string present = inner;
  for (const std::string& name : {std::string("single"), outer}) {
    const PrecisionInfo& precision = find_precision(name);
    if (precision.bits <= find_precision(present).bits || precision.bits > find_precision(outer).bits) continue;
    present = name;
    const auto failed = [&](const SolverResult& r) {
      return !r.converged && r.iterations < settings.options.max_iterations && std::isfinite(r.measured);
    };
    if (std::none_of(s.results.begin(), s.results.end(), failed)) return;
    const KernelQuery needed = {.operation = "measure", .precision = precision.name};
    if (try_find(domain->device().kernels(), needed) == nullptr) continue;
    const Level level(dirac(name), settings.reduction, 1);
    KrylovBatch krylov(high->a(), level.a(), settings.method, 1, settings.parameters);
    for (std::size_t n = 0; n < s.results.size(); ++n) {
      if (!failed(s.results[n])) continue;
      System one{s.x.slice(static_cast<int>(n), 1),
                 s.b.slice(static_cast<int>(n), 1),
                 {s.tolerance[n]},
                 {s.scale[n]},
                 {s.results[n]},
                 {s.flops[n]},
                 {s.bytes_sent[n]}};
      one.results[0].events.push_back({one.results[0].iterations, "precision raised to " + name});
      iterate(one, krylov, level.a());
      s.results[n] = one.results[0];
      s.flops[n] = one.flops[0];
      s.bytes_sent[n] = one.bytes_sent[0];
    }
  }
}

std::vector<SolveReport> Solver::Parts::solve(SpinorField& x, const SpinorField& b) {
  const double start = now();
  const int rhs = b.rhs();
  reserve(rhs);
  const SolverOptions& options = settings.options;
  std::vector<double> b_norm = blas().norms2(b);
  for (double& v : b_norm) v = std::sqrt(v);
  x.fill(0);
  SpinorField full_b = outer_b ? outer_b->slice(0, rhs) : b.slice(0, rhs);
  SpinorField full_x = outer_x ? outer_x->slice(0, rhs) : x.slice(0, rhs);
  if (outer_b) {
    convert(b, full_b);
    full_x.fill(0);
  }
  System s{reduced_x ? reduced_x->slice(0, rhs) : full_x.slice(0, rhs),
           reduced_b ? reduced_b->slice(0, rhs) : full_b.slice(0, rhs),
           std::vector(rhs, options.tolerance),
           std::vector(rhs, 1.0),
           std::vector<SolverResult>(rhs),
           std::vector(rhs, 0.0),
           std::vector(rhs, 0.0)};
  if (high->even_odd) {
    high->even_odd->prepare(s.b, full_b);
    s.x.fill(0);
    if (options.criterion == Criterion::residual) {
      const std::vector<double> reduced = Blas(s.b).norms2(s.b);
      for (int n = 0; n < rhs; ++n) {
        if (!(reduced[n] > 0)) continue;
        s.scale[n] = high->even_odd->residual_scale() * std::sqrt(reduced[n]) / b_norm[n];
        s.tolerance[n] /= s.scale[n];
      }
    }
  }
  std::vector<double> defect;
  constexpr int attempts = 4;  // the reduced tolerance is an estimate
  for (int attempt = 0; attempt < attempts; ++attempt) {
    iterate(s, *batch, low->a());
    raise_precision(s);
    if (high->even_odd) high->even_odd->reconstruct(full_x, s.x, full_b);
    if (outer_x) convert(full_x, x);
    defect = defects(x, b);
    bool again = false;
    for (int n = 0; n < rhs; ++n) {
      SolverResult& r = s.results[n];
      const double residual = b_norm[n] > 0 ? defect[n] / b_norm[n] : 0;
      if (options.criterion == Criterion::normal || residual <= options.tolerance || !r.converged) continue;
      s.tolerance[n] = 0.5 * options.tolerance / residual * r.measured;
      again = again || (outer == "double" && r.iterations < options.max_iterations);
    }
    if (!again) break;
  }
  std::vector<SolveReport> reports(rhs);
  const double elapsed = now() - start;
  double flops = 0;
  for (const double f : s.flops) flops += f;
  for (int n = 0; n < rhs; ++n) {
    const SolverResult& r = s.results[n];
    SolveReport& report = reports[n];
    report.iterations = r.iterations;
    report.residual = b_norm[n] > 0 ? defect[n] / b_norm[n] : 0;
    report.measured = options.criterion == Criterion::normal ? r.measured : report.residual;
    report.converged = report.measured <= options.tolerance;
    report.seconds = flops > 0 ? elapsed * s.flops[n] / flops : elapsed / rhs;
    report.gflops = flops / elapsed * 1e-9;
    report.bytes_sent = s.bytes_sent[n];
    report.replacements = r.replacements;
    report.events = r.events;
  }
  return reports;
}

Solver::Solver(std::shared_ptr<const Action> action, const HostGauge& gauge, DomainPointer domain,
               const SolveSettings& settings)
    : parts_(std::make_unique<Parts>(std::move(action), gauge, domain, settings)) {}

Solver::~Solver() = default;

const BasisInfo& Solver::basis() const { return parts_->links.basis(); }
const DomainPointer& Solver::domain() const { return parts_->domain; }
const DiracOperator& Solver::dirac() const { return parts_->dirac("double"); }

double Solver::host_share() const { return parts_->seconds > 0 ? parts_->host_seconds / parts_->seconds : 0; }

std::size_t Solver::bytes_per_rhs() const {
  const Parts& p = *parts_;
  const Action& action = *p.action;
  // Bytes of a vector on half the sites.
  const auto half_field_bytes = [&](const std::string& name) {
    const PrecisionInfo& stored = find_precision(name);
    const int site = action.spins() * stored.spin_words * stored.word_bytes + (stored.norm ? 4 : 0);
    return static_cast<std::size_t>(p.domain->lattice().half_sites()) * site * action.slices();
  };
  const bool reduced = p.settings.reduction != Reduction::none;
  const std::size_t high = half_field_bytes(p.outer), low = half_field_bytes(p.inner),
                    lowest = half_field_bytes(p.lowest);
  const FieldCount fields = fields_of(p.settings.method, p.settings.parameters);
  const int work = reduced ? dirac().work_fields() : 0, sites = reduced ? 1 : 2;
  std::size_t bytes =
      (fields.recurrence * sites + work) * low + (KrylovBatch::outer_fields * sites + work + (reduced ? 2 : 0)) * high;
  if (fields.preconditioner > 0) {
    const bool between = p.lowest != p.inner && p.lowest != "double" && p.inner != "double";
    bytes += (fields.preconditioner * sites + (p.lowest != p.inner ? work : 0)) * lowest;
    if (between) bytes += sites * half_field_bytes("double");
  }
  if (p.outer != "double") bytes += 4 * high;
  return bytes;
}

double Solver::residual(const SpinorField& x, const SpinorField& b) const {
  SpinorField gx = x.like(), gb = b.like();
  parts_->working_gauge.rotate(gx, x, Dagger::no);
  parts_->working_gauge.rotate(gb, b, Dagger::no);
  double total = 0;
  for (const double r : parts_->defects(gx, gb)) total += r * r;
  return std::sqrt(total / parts_->blas().norm2(b));
}

SolveReport Solver::solve(SpinorField& x, const SpinorField& b) const {
  if (b.rhs() != 1)
    throw UsageError(fmt::format("solve is for one right-hand side, the fields have {}; use solve_all", b.rhs()));
  return solve_all(x, b).front();
}

std::vector<SolveReport> Solver::solve_all(SpinorField& x, const SpinorField& b) const {
  if (x.rhs() != b.rhs()) throw UsageError(fmt::format("{} right-hand sides and {} solutions", b.rhs(), x.rhs()));
  if (!parts_->working_gauge.transformation) return parts_->solve(x, b);
  SpinorField gb = b.like(), gx = b.like();
  parts_->working_gauge.rotate(gb, b, Dagger::no);
  std::vector<SolveReport> reports = parts_->solve(gx, gb);
  parts_->working_gauge.rotate(x, gx, Dagger::yes);
  return reports;
}

std::vector<SolveReport> Solver::solve_sources(SpinorField& quark, const SpinorField& source,
                                               const std::function<void(const SpinorField& x)>& seen) const {
  if (!dirac().embeds()) return solve_all(quark, source);
  const WorkingGauge& gauge = parts_->working_gauge;
  SpinorField own = source.like(), b = field(source.rhs()), x = b.like();
  gauge.rotate(own, source, Dagger::no);
  dirac().embed(b, own);
  std::vector<SolveReport> reports = parts_->solve(x, b);
  if (seen) seen(x);
  dirac().project(own, x);
  gauge.rotate(quark, own, Dagger::yes);
  return reports;
}

}  // namespace quarksmith
