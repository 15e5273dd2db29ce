#include "solvers/shifted.hpp"

#include <fmt/format.h>

#include <chrono>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"
#include "solvers/usable_norm.hpp"

namespace quarksmith {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

struct WilsonShiftedSolver::Parts {
  /// The operator in one precision.
  struct Level {
    Level(const Parts& parts, const HostGauge& gauge, const std::string& name, const LinkField* plain, int rhs)
        : hopping(std::make_shared<LinkField>(upload(gauge, parts.domain, find_precision(find_precision(name).links),
                                                     find_storage(parts.settings.links))),
                  find_precision(name), find_basis(parts.settings.basis), parts.parameters, plain) {
      const Reduction reduction = parts.settings.reduction;
      if (reduction == Reduction::none) {
        a = std::make_unique<WilsonMatrix>(hopping);
      } else {
        a = std::make_unique<WilsonEvenOdd>(hopping, reduction, rhs);
      }
    }
    WilsonHopping hopping;
    std::unique_ptr<LinearOperator> a;
  };

  Parts(const HostGauge& gauge, DomainPointer d, const WilsonParameters& p, const SolveSettings& s, int shifts)
      : settings(s), parameters(p), domain(std::move(d)) {
    check(s.options);
    if (find_storage(s.links).temporal)
      throw UsageError(
          fmt::format("links '{}': shifted systems are solved in the gauge of the links; use r12", s.links));
    if (p.twist.flavours > 1) throw UsageError("shifted systems are solved for one flavour; leave epsilon out");
    const std::size_t dash = s.precision.find('-');
    const std::string outer = s.precision.substr(0, dash),
                      inner = dash == std::string::npos ? outer : s.precision.substr(dash + 1);
    if (find_precision(inner).bits > find_precision(outer).bits)
      throw UsageError(fmt::format("precision '{}': the second must not be higher than the first", s.precision));
    std::optional<LinkField> plain;
    if (p.has_clover()) plain.emplace(upload(gauge, domain, find_precision("double"), find_storage("r18")));
    const LinkField* links = plain ? &*plain : nullptr;
    const int width = std::min(shifts, MultishiftSolver::most_refined);
    high = std::make_unique<Level>(*this, gauge, outer, links, width);
    if (inner != outer) low = std::make_unique<Level>(*this, gauge, inner, links, width);
    solver = std::make_unique<MultishiftSolver>(*high->a, low ? *low->a : *high->a, shifts);
  }

  SolveSettings settings;
  WilsonParameters parameters;
  DomainPointer domain;
  std::unique_ptr<Level> high, low;  ///< low only if the precisions differ
  std::unique_ptr<MultishiftSolver> solver;
};

WilsonShiftedSolver::WilsonShiftedSolver(const HostGauge& gauge, DomainPointer domain,
                                         const WilsonParameters& parameters, const SolveSettings& settings, int shifts)
    : parts_(std::make_unique<Parts>(gauge, std::move(domain), parameters, settings, shifts)) {}

WilsonShiftedSolver::~WilsonShiftedSolver() = default;

Subset WilsonShiftedSolver::subset() const { return parts_->high->a->subset(); }
const BasisInfo& WilsonShiftedSolver::basis() const { return parts_->high->hopping.basis(); }

double WilsonShiftedSolver::host_share() const {
  const MultishiftSolver& s = *parts_->solver;
  return s.seconds() > 0 ? s.host_seconds() / s.seconds() : 0;
}

std::vector<ShiftReport> WilsonShiftedSolver::solve(SpinorField& x, const SpinorField& b,
                                                    const std::vector<double>& shifts) const {
  const Parts& p = *parts_;
  usable_norms(b);
  const double start = now();
  const std::vector<double> tolerances(shifts.size(), p.settings.options.tolerance);
  const PrecisionInfo& precision = p.high->a->precision();
  std::vector<ShiftResult> results;
  if (&precision == &b.precision()) {
    results = p.solver->solve(x, b, shifts, tolerances, p.settings.options);
  } else {
    SpinorField own_x(x.domain_pointer(), precision, x.subset(), x.rhs()),
        own_b(b.domain_pointer(), precision, b.subset());
    convert(b, own_b);
    results = p.solver->solve(own_x, own_b, shifts, tolerances, p.settings.options);
    convert(own_x, x);
  }
  const double elapsed = now() - start;
  std::vector<ShiftReport> reports(shifts.size());
  std::vector<double> flops;
  double total = 0;
  for (const ShiftResult& r : results) {
    flops.push_back(2 * (r.applications + r.exact_applications) * p.high->a->flops());
    total += flops.back();
  }
  for (std::size_t k = 0; k < shifts.size(); ++k) {
    const ShiftResult& r = results[k];
    ShiftReport& report = reports[k];
    report.shift = shifts[k];
    report.shared_iterations = r.shared_iterations;
    report.iterations = r.iterations;
    report.residual = r.residual;
    report.measured = r.measured;
    report.converged = r.converged;
    report.seconds = total > 0 ? elapsed * flops[k] / total : 0;
    report.gflops = total / elapsed * 1e-9;
    report.replacements = r.replacements;
    report.events = r.events;
  }
  return reports;
}

}  // namespace quarksmith
