#include "solvers/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "solvers/bicgstab.hpp"
#include "solvers/blas.hpp"
#include "solvers/cg.hpp"

namespace quarksmith {

Method method_of(const std::string& name) {
  if (name == "cg") return Method::cg;
  if (name == "bicgstab") return Method::bicgstab;
  throw UnknownName(fmt::format("solver '{}' is unknown; use cg or bicgstab", name));
}

Reduction reduction_of(const std::string& name) {
  if (name == "none") return Reduction::none;
  if (name == "symmetric") return Reduction::symmetric;
  if (name == "asymmetric") return Reduction::asymmetric;
  throw UnknownName(fmt::format("even-odd form '{}' is unknown; use symmetric, asymmetric or none", name));
}

namespace {

/// The gauge in which a solver works, and how fields get there.
struct WorkingGauge {
  WorkingGauge(const HostGauge& original, const DomainPointer& domain, const StorageInfo& storage) : gauge(original) {
    if (!storage.temporal) return;
    const TemporalGauge fixed = fix_temporal_gauge(original);
    HostGauge g(original.lattice);
    for (std::size_t x = 0; x < g.site.size(); ++x) g.site[x].fill(fixed.transformation[x]);
    gauge = fixed.gauge;
    transformation.emplace(upload(g, domain, find_precision("double"), find_storage("r18")));
    kernel = &find(domain->device().kernels(), {.operation = "rotate_colour", .precision = "double"});
  }

  /// out = g in, or g^+ in; without a transformation out = in.
  void rotate(SpinorField& out, const SpinorField& in, Dagger dagger) const {
    if (!transformation) return out.copy_from(in);
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments a = arguments_for(in.domain(), in.lanes(), in.rhs());
      a.parity = int(parity);
      a.direction = dagger == Dagger::yes;
      a.links = transformation->operand();
      a.in = in.operand(parity);
      a.out = out.operand(parity);
      in.device().run(*kernel, a);
    }
  }

  HostGauge gauge;
  std::optional<LinkField> transformation;
  const Kernel* kernel = nullptr;
};

SolverResult run(Method method, const LinearOperator& a, SpinorField& x, const SpinorField& b,
                 const SolverOptions& options) {
  return method == Method::cg ? cg_normal(a, x, b, options) : bicgstab(a, x, b, options);
}

/// Relative accuracy that one inner solve can be trusted with.
double inner_floor(const PrecisionInfo& precision) {
  switch (precision.word_bytes) {
    case 8:
      return 1e-13;
    case 4:
      return 1e-5;
    case 2:
      return 3e-2;
    default:
      return 0.3;
  }
}

}  // namespace

struct WilsonSolver::Parts {
  Parts(const HostGauge& gauge, DomainPointer domain, const WilsonParameters& parameters, const SolveSettings& s)
      : settings(s),
        working_gauge(gauge, domain, find_storage(s.links)),
        plain_links(parameters.has_clover() ? store(domain, "double", "r18") : nullptr),
        exact(make_hopping("double", domain, parameters)),
        exact_matrix(exact),
        blas(domain->device(), find_precision("double")) {
    if (s.options.max_iterations < 1)
      throw UsageError(fmt::format("{} iterations at most; use at least 1", s.options.max_iterations));
    if (!(s.options.tolerance > 0))
      throw UsageError(fmt::format("tolerance {}; use a positive number", s.options.tolerance));
    const std::string inner = s.precision.starts_with("double-") ? s.precision.substr(7) : s.precision;
    uniform = inner == s.precision;
    if (inner != "double") working.emplace(make_hopping(inner, domain, parameters));
    if (s.reduction != Reduction::none)
      even_odd.emplace(hopping(), s.reduction == Reduction::symmetric ? EvenOdd::symmetric : EvenOdd::asymmetric);
    matrix.emplace(hopping());
    plain_links.reset();  // the clover terms are made
  }

  std::shared_ptr<LinkField> store(const DomainPointer& domain, std::string_view precision,
                                   std::string_view storage) const {
    return std::make_shared<LinkField>(
        upload(working_gauge.gauge, domain, find_precision(precision), find_storage(storage)));
  }

  /// The operator for fields of a precision.
  WilsonHopping make_hopping(const std::string& name, const DomainPointer& domain,
                             const WilsonParameters& parameters) const {
    const PrecisionInfo& precision = find_precision(name);
    return {store(domain, precision.links, settings.links), precision, find_basis(settings.basis), parameters,
            plain_links.get()};
  }

  /// The operator in which the method iterates.
  const WilsonHopping& hopping() const { return working ? *working : exact; }
  /// |b - M x| with r = b - M x in double.
  double defect(SpinorField& r, const SpinorField& x, const SpinorField& b) const {
    exact_matrix.apply(r, x, Dagger::no);
    return std::sqrt(blas.residual(b, r));
  }

  /// d = M^-1 r on all sites in the precision of hopping(); the tolerance is one of the full system.
  SolverResult solve(SpinorField& d, const SpinorField& r, SolverOptions options) const {
    d.fill(0);
    if (!even_odd) return run(settings.method, *matrix, d, r, options);
    SpinorField reduced_r(r.domain_pointer(), r.precision(), Subset::even), reduced_d = reduced_r.like();
    even_odd->prepare(reduced_r, r);
    const Blas working_blas(r.device(), r.precision());
    const double scale = even_odd->residual_scale() * std::sqrt(working_blas.norm2(reduced_r) / working_blas.norm2(r));
    options.tolerance /= scale;
    if (options.observer)
      options.observer = [scale, inner = options.observer](int iteration, double value) {
        inner(iteration, scale * value);
      };
    reduced_d.fill(0);
    const SolverResult result = run(settings.method, *even_odd, reduced_d, reduced_r, options);
    even_odd->reconstruct(d, reduced_d, r);
    return result;
  }
  /// The same with double fields outside.
  SolverResult solve_in_working_precision(SpinorField& d, const SpinorField& r, const SolverOptions& options) const {
    if (!working) return solve(d, r, options);
    SpinorField inner_r(r.domain_pointer(), working->precision(), r.subset()), inner_d = inner_r.like();
    convert(r, inner_r);
    const SolverResult result = solve(inner_d, inner_r, options);
    convert(inner_d, d);
    return result;
  }

  SolveSettings settings;
  bool uniform = true;  ///< one precision for everything but the final residual
  WorkingGauge working_gauge;
  std::shared_ptr<LinkField> plain_links;  ///< from which clover terms are made
  WilsonHopping exact;
  WilsonMatrix exact_matrix;
  Blas blas;
  std::optional<WilsonHopping> working;
  std::optional<WilsonMatrix> matrix;
  std::optional<WilsonEvenOdd> even_odd;
};

WilsonSolver::WilsonSolver(const HostGauge& gauge, DomainPointer domain, const WilsonParameters& parameters,
                           const SolveSettings& settings)
    : parts_(std::make_unique<Parts>(gauge, std::move(domain), parameters, settings)) {}

WilsonSolver::~WilsonSolver() = default;

const BasisInfo& WilsonSolver::basis() const { return parts_->exact.basis(); }
const DomainPointer& WilsonSolver::domain() const { return parts_->exact.domain(); }

const CloverTerm* WilsonSolver::clover() const { return parts_->exact.clover(); }

double WilsonSolver::residual(const SpinorField& x, const SpinorField& b) const {
  SpinorField r = b.like(), gx = x.like(), gb = b.like();
  parts_->working_gauge.rotate(gx, x, Dagger::no);
  parts_->working_gauge.rotate(gb, b, Dagger::no);
  return parts_->defect(r, gx, gb) / std::sqrt(parts_->blas.norm2(b));
}

SolveReport WilsonSolver::solve(SpinorField& x, const SpinorField& b) const {
  if (!parts_->working_gauge.transformation) return solve_in_working_gauge(x, b);
  SpinorField gb = b.like(), gx = b.like();
  parts_->working_gauge.rotate(gb, b, Dagger::no);
  const SolveReport report = solve_in_working_gauge(gx, gb);
  parts_->working_gauge.rotate(x, gx, Dagger::yes);
  return report;
}

SolveReport WilsonSolver::solve_in_working_gauge(SpinorField& x, const SpinorField& b) const {
  const auto start = std::chrono::steady_clock::now();
  const SolverOptions& options = parts_->settings.options;
  SolveReport report;
  x.fill(0);
  const double b_norm = std::sqrt(parts_->blas.norm2(b));
  if (b_norm == 0) {
    report.converged = true;
    return report;
  }
  SpinorField r = b.like(), d = b.like();
  r.copy_from(b);
  report.residual = 1;
  double flops = 0;
  // Defect correction: M d = b - M x in the working precision, x += d in double, until the true residual is small.
  while (report.residual > options.tolerance && report.iterations < options.max_iterations) {
    SolverOptions inner = options;
    inner.tolerance = 0.9 * options.tolerance / report.residual;
    if (!parts_->uniform) inner.tolerance = std::max(inner.tolerance, inner_floor(parts_->hopping().precision()));
    inner.max_iterations = options.max_iterations - report.iterations;
    const int before = report.iterations;
    const double scale = report.residual;
    if (options.observer)
      inner.observer = [&options, before, scale](int i, double value) { options.observer(before + i, scale * value); };
    const SolverResult result = parts_->solve_in_working_precision(d, r, inner);
    parts_->blas.axpby(1.0, d, 1.0, x);
    report.iterations += result.iterations;
    flops += result.applications * (parts_->even_odd ? parts_->even_odd->flops() : parts_->matrix->flops());
    report.residual = parts_->defect(r, x, b) / b_norm;
    // A correction that gains less than a tenth has met the limit of the precision; a uniform solve is not corrected.
    if (report.residual > 0.9 * scale || (parts_->uniform && parts_->working)) break;
  }
  report.converged = report.residual <= options.tolerance;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.gflops = flops / report.seconds * 1e-9;
  return report;
}

}  // namespace quarksmith
