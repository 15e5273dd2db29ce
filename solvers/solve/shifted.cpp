#include "solvers/solve/shifted.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/normal.hpp"
#include "solvers/solve/checked_norms.hpp"
#include "solvers/solve/few_sites.hpp"

namespace quarksmith {

struct ShiftedSolver::Parts {
  /// The operator in one precision, and the form in which it is iterated with.
  struct Level {
    Level(std::unique_ptr<DiracOperator> d, const SolveSettings& s, int rhs)
        : dirac(std::move(d)), system(*dirac, s.even_odd_form, rhs, s.kept) {}
    const LinearOperator& a() const { return system.a(); }

    std::unique_ptr<DiracOperator> dirac;
    SystemOperator system;
  };

  Parts(const Action& action, const HostGauge& gauge, DomainPointer d, const SolveSettings& s, int shifts)
      : settings(s), basis(&find_basis(s.basis)) {
    check(s.options);
    if (find_storage(s.links).temporal)
      throw UsageError(
          fmt::format("links '{}': shifted systems are solved in the gauge of the links; use r12", s.links));
    const auto [outer, inner, lowest] = precisions_of(s.precision, 2);
    const PrecisionInfo& full = find_precision("double");
    const LinkStore links(gauge, std::move(d), s.links, s.basis);
    deviation = action.deviation(links);
    const auto make = [&](const LinkStore& l, const PrecisionInfo& precision) { return action.make(l, precision); };
    const auto level = [&](const PrecisionInfo& precision, bool exact, int rhs) {
      return std::make_unique<Level>(exact ? make_exact(links, deviation, make) : make(links, precision), s, rhs);
    };
    const int width = std::min(shifts, MultishiftSolver::most_refined);
    const bool exact = !deviation.negligible();
    // One Krylov space serves all shifts, but corrections are of each by itself: in double there are none with the
    // links as they were given.
    high = level(*outer, exact && outer == &full, width);
    if (inner != outer) low = level(*inner, false, width);
    if (outer != &full) exact_residual = level(full, exact, 1);
    squared = high->system.even_odd() != nullptr && high->system.even_odd()->hermitian();
    solver = std::make_unique<MultishiftSolver>(
        high->a(), low ? low->a() : high->a(), shifts,
        squared ? MultishiftSolver::Form::hermitian : MultishiftSolver::Form::normal);
    const bool low_links = low || outer != &full;
    const std::string all = links.exact().storage();
    links_used = exact ? links_text(all, low_links ? s.links : all) : s.links;
  }

  SolveSettings settings;
  const BasisInfo* basis;
  LinkDeviation deviation;
  std::string links_used;
  bool squared = false;                   ///< whether A^+ A is the even-odd form itself
  std::unique_ptr<Level> high, low;       ///< low only if the precisions differ
  std::unique_ptr<Level> exact_residual;  ///< only if high is not double
  std::unique_ptr<MultishiftSolver> solver;
};

ShiftedSolver::ShiftedSolver(const Action& action, const HostGauge& gauge, DomainPointer domain,
                             const SolveSettings& given, int shifts) {
  const auto rehearse = [&](const SolveSettings& s) {
    const DomainPointer few = few_sites(*domain);
    const Parts trial(action.on(few->lattice()), unit_gauge(few->lattice(), gauge.colours()), few, s, shifts);
    const auto [outer, inner, lowest] = precisions_of(s.precision, 2);
    convert_both_ways(trial.high->a(), {outer, inner});
  };
  const SolveSettings settings = with_chosen_precision(given, rehearse);
  const KernelRehearsal scope([&] { rehearse(settings); });
  parts_ = std::make_unique<Parts>(action, gauge, domain, settings, shifts);
}

ShiftedSolver::~ShiftedSolver() = default;

Subset ShiftedSolver::subset() const { return parts_->high->a().subset(); }
const BasisInfo& ShiftedSolver::basis() const { return *parts_->basis; }
const DomainPointer& ShiftedSolver::domain() const { return parts_->high->a().domain(); }
SpinorField ShiftedSolver::field(int rhs) const { return parts_->high->a().field(rhs, find_precision("double")); }
const LinkDeviation& ShiftedSolver::link_deviation() const { return parts_->deviation; }

double ShiftedSolver::host_share() const {
  const MultishiftSolver& s = *parts_->solver;
  return s.seconds() > 0 ? s.host_seconds() / s.seconds() : 0;
}

/// |b - (A^+ A + sigma) x| / |b| in double, where the solver has no operator of that precision.
double ShiftedSolver::residual(const SpinorField& x, const SpinorField& b, double shift) const {
  const LinearOperator& a = parts_->exact_residual->a();
  const Blas blas(a);
  SpinorField y = b.like();
  parts_->squared ? a.apply(y, x, Dagger::no) : NormalOperator(a, 1).apply(y, x, Dagger::no);
  blas.axpby(shift, x, 1, y);
  return std::sqrt(blas.residual(b, y) / blas.norm2(b));
}

std::vector<ShiftReport> ShiftedSolver::solve(SpinorField& x, const SpinorField& b,
                                              const std::vector<double>& shifts) const {
  const Parts& p = *parts_;
  checked_norms(b);
  const double start = now();
  const std::vector<double> tolerances(shifts.size(), p.settings.options.tolerance);
  const PrecisionInfo& precision = p.high->a().precision();
  std::vector<ShiftResult> results;
  if (&precision == &b.precision()) {
    results = p.solver->solve(x, b, shifts, tolerances, p.settings.options);
  } else {
    SpinorField own_x = p.high->a().field(x.rhs(), precision), own_b = p.high->a().field(1, precision);
    convert(b, own_b);
    results = p.solver->solve(own_x, own_b, shifts, tolerances, p.settings.options);
    convert(own_x, x);
  }
  const double elapsed = now() - start;
  std::vector<ShiftReport> reports(shifts.size());
  std::vector<double> flops;
  double total = 0;
  for (const ShiftResult& r : results) {
    flops.push_back((p.squared ? 1 : 2) * (r.applications + r.exact_applications) * p.high->a().flops());
    total += flops.back();
  }
  for (std::size_t k = 0; k < shifts.size(); ++k) {
    const ShiftResult& r = results[k];
    ShiftReport& report = reports[k];
    report.shift = shifts[k];
    report.shared_iterations = r.shared_iterations;
    report.iterations = r.iterations;
    report.precision = p.settings.precision;
    report.links = p.links_used;
    report.residual = p.exact_residual ? residual(x.columns(int(k), 1), b, shifts[k]) : r.residual;
    report.measured = p.exact_residual ? report.residual : r.measured;
    report.converged = report.measured <= p.settings.options.tolerance;
    report.seconds = total > 0 ? elapsed * flops[k] / total : 0;
    report.gflops = total / elapsed * 1e-9;
    report.replacements = r.replacements;
    report.events = r.events;
  }
  return reports;
}

}  // namespace quarksmith
