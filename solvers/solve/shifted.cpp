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

  Parts(const Action& action, const GaugeLinks& gauge, DomainPointer d, const SolveSettings& s, int shifts)
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
  double heavy_quark = 0;                 ///< tolerance of the heavy-quark residual; 0: none
  bool squared = false;                   ///< whether A^+ A is the even-odd form itself
  std::unique_ptr<Level> high, low;       ///< low only if the precisions differ
  std::unique_ptr<Level> exact_residual;  ///< only if high is not double
  std::unique_ptr<MultishiftSolver> solver;
};

ShiftedSolver::ShiftedSolver(const Action& action, const GaugeLinks& gauge, DomainPointer domain,
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

void ShiftedSolver::limit(double tolerance, int max_iterations, double heavy_quark) {
  SolverOptions options = parts_->settings.options;
  options.tolerance = tolerance;
  options.max_iterations = max_iterations;
  check(options);
  if (!(heavy_quark >= 0))
    throw UsageError(fmt::format("heavy-quark residual {}; use a number from 0 on", heavy_quark));
  parts_->settings.options = options;
  parts_->heavy_quark = heavy_quark;
}

void ShiftedSolver::go_together() { parts_->solver->go_together(); }

double ShiftedSolver::tolerance() const { return parts_->settings.options.tolerance; }

/// r = b - (A^+ A + sigma) x in double. \return |r| / |b|
double ShiftedSolver::remainder(SpinorField& r, const SpinorField& x, const SpinorField& b, double shift) const {
  const LinearOperator& a = (parts_->exact_residual ? parts_->exact_residual : parts_->high)->a();
  const Blas blas(a);
  parts_->squared ? a.apply(r, x, Dagger::no) : NormalOperator(a, 1).apply(r, x, Dagger::no);
  blas.axpby(shift, x, 1, r);
  return std::sqrt(blas.residual(b, r) / blas.norm2(b));
}

double ShiftedSolver::heavy_quark(const SpinorField& r, const SpinorField& x) const {
  HostSpinor up(r.domain().lattice(), r.colours()), down(up);
  download(r, up, basis());
  download(x, down, basis());
  double sums[2] = {0, 0};
  for (long long n = 0; n < up.lattice.sites(); ++n) {
    if (!holds(r.subset(), Lattice::parity(up.lattice.coordinates(n)))) continue;
    double rr = 0, xx = 0;
    for (std::size_t k = 0; k < up.site.each(); ++k) {
      rr += std::norm(up.site.at(std::size_t(n))[k]);
      xx += std::norm(down.site.at(std::size_t(n))[k]);
    }
    sums[0] += xx == 0 ? 1 : rr / xx;
    sums[1] += 1;
  }
  r.domain().communicator().sum(sums);
  return std::sqrt(sums[0] / sums[1]);
}

/// x with |b - (A^+ A + sigma) x| <= tolerance |b|, from the one there is; r becomes what is left.
ShiftReport ShiftedSolver::correct(double tolerance, SpinorField& x, SpinorField& r, const SpinorField& b,
                                   double shift) const {
  ShiftReport report;
  report.shift = shift;
  report.precision = parts_->settings.precision;
  report.links = parts_->links_used;
  report.residual = remainder(r, x, b, shift);
  if (report.residual > tolerance) {
    SpinorField step = x.like();
    report = solve_to(tolerance / report.residual, step, r, {shift})[0];
    Blas(x).axpby(1, step, 1, x);
    report.residual = remainder(r, x, b, shift);
  }
  report.measured = report.residual;
  report.converged = report.measured <= tolerance;
  return report;
}

ShiftReport ShiftedSolver::improve(SpinorField& x, const SpinorField& b, double shift) const {
  const double wanted = parts_->heavy_quark;
  double target = tolerance();
  SpinorField r = b.like();
  const double bb = Blas(b).norm2(b);
  if (!(bb > 0) || !std::isfinite(bb)) return solve(x, b, {shift})[0];
  ShiftReport report = correct(target, x, r, b, shift);
  if (wanted == 0) return report;
  while (true) {
    report.heavy_quark = heavy_quark(r, x);
    if (report.heavy_quark <= wanted || !report.converged) break;
    target = report.residual * std::min(0.5, 0.7 * wanted / report.heavy_quark);
    const int before = report.iterations;
    const double seconds = report.seconds;
    report = correct(target, x, r, b, shift);
    report.iterations += before;
    report.seconds += seconds;
  }
  report.converged = report.residual <= tolerance() && report.heavy_quark <= wanted;
  return report;
}

std::vector<ShiftReport> ShiftedSolver::solve_to(double tolerance, SpinorField& x, const SpinorField& b,
                                                 const std::vector<double>& shifts) const {
  const Parts& p = *parts_;
  checked_norms(b);
  const double start = now();
  const std::vector<double> tolerances(shifts.size(), tolerance);
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
    report.residual = r.residual;
    if (p.exact_residual) {
      SpinorField rest = b.like();
      report.residual = remainder(rest, x.columns(int(k), 1), b, shifts[k]);
    }
    report.measured = p.exact_residual ? report.residual : r.measured;
    report.converged = report.measured <= tolerance;
    report.seconds = total > 0 ? elapsed * flops[k] / total : 0;
    report.gflops = total / elapsed * 1e-9;
    report.replacements = r.replacements;
    report.events = r.events;
  }
  return reports;
}

}  // namespace quarksmith
