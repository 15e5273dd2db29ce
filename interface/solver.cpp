// Solvers of quarksmith.h.
#include <cmath>

#include "interface/action.hpp"
#include "interface/arrays.hpp"

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

SolveSettings settings_of(const quarksmith_solver_settings* settings, const Action& action, const HostGauge& gauge) {
  const auto& s = require_struct(settings, "quarksmith_solver_settings");
  SolveSettings chosen;
  chosen.method = method_of(require(s.method, "method"));
  chosen.reduction = reduction_of(require(s.even_odd, "even_odd"));
  chosen.precision = require(s.precision, "precision");
  chosen.options.updates = updates_of(require(s.updates, "updates"));
  chosen.options.delta = s.delta;
  const bool mixed = precisions_of(chosen.precision, 3).mixed();
  if (!mixed && chosen.options.updates != Updates::reliable)
    refuse(fmt::format("updates {} belongs to mixed precision, as double-half, not to {}; leave it at reliable",
                       s.updates, chosen.precision));
  if (!mixed && s.delta != 0)
    refuse(fmt::format("delta {} belongs to mixed precision, as double-half, not to {}; leave it at 0", s.delta,
                       chosen.precision));
  chosen.links = links_of(s.links, action, gauge);
  chosen.basis = require(s.basis, "basis");
  chosen.options.tolerance = s.tolerance;
  chosen.options.max_iterations = s.max_iterations;
  return chosen;
}

/// Fills the caller's reports; throws if a solve missed its tolerance. \param which what there is one report of.
template <class Report>
void report_all(const std::vector<Report>& solved, const SolveSettings& settings, quarksmith_solve_report* reports,
                const char* which = "right-hand side") {
  for (std::size_t r = 0; r < solved.size() && reports != nullptr; ++r)
    reports[r] = {.size = sizeof(quarksmith_solve_report),
                  .iterations = solved[r].iterations,
                  .converged = solved[r].converged,
                  .residual = solved[r].residual,
                  .seconds = solved[r].seconds,
                  .gflops = solved[r].gflops,
                  .method = name_of(solved[r].method)};
  for (std::size_t r = 0; r < solved.size(); ++r)
    if (!solved[r].converged)
      throw StatusError(QUARKSMITH_NOT_CONVERGED,
                        fmt::format("{} {} of {}: residual {:.2e} after {} iterations, {:.1e} asked for; {}", which, r,
                                    solved.size(), solved[r].residual, solved[r].iterations, settings.options.tolerance,
                                    remedy_of(settings, solved[r])));
}

}  // namespace

quarksmith_status quarksmith_solver_settings_init(quarksmith_solver_settings* settings) {
  return init(__func__, settings, [](auto& s) {
    s.method = "auto";
    s.even_odd = "symmetric";
    s.precision = "double";
    s.updates = "reliable";
    s.basis = "non_relativistic";
    s.tolerance = SolverOptions{}.tolerance;
    s.max_iterations = SolverOptions{}.max_iterations;
  });
}

quarksmith_status quarksmith_solve_report_init(quarksmith_solve_report* report) { return init(__func__, report); }

quarksmith_status quarksmith_solver_create(quarksmith_gauge* gauge, const quarksmith_action* action,
                                           const quarksmith_solver_settings* settings, quarksmith_solver** solver) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g) {
    const Action a = action_of(action, g.gauge.phase, g.lattice());
    const SolveSettings chosen = settings_of(settings, a, g.gauge);
    require(solver, "solver");
    give<SolverHandle>(solver, g.session, g.gauge, a, chosen);
  });
}

quarksmith_status quarksmith_solve(quarksmith_solver* solver, int n, void* const* x, const void* const* b,
                                   const quarksmith_spinor_format* format, quarksmith_solve_report* reports) {
  return call<SolverHandle>(__func__, "solver", solver, [&](SolverHandle& s) {
    const SpinorArrays arrays(s.lattice(), require_struct(format, "quarksmith_spinor_format"), s.spins);
    arrays.require_fits(Subset::full);
    if (reports != nullptr) require_struct(reports, "quarksmith_solve_report");
    require_all(b, n, "b");
    require_all(x, n, "x");
    require_apart(x, n, "x", b, n, "b");
    const BasisInfo& basis = s.solver.basis();
    SpinorField from(s.solver.domain(), find_precision("double"), Subset::full, n, s.spins);
    upload_all(arrays, b, from, basis);
    SpinorField to = from.like();
    const std::vector<SolveReport> solved = s.solver.solve_sources(to, from);
    download_all(to, basis, arrays, x);
    report_all(solved, s.settings, reports);
  });
}

quarksmith_status quarksmith_solve_fields(quarksmith_solver* solver, quarksmith_field* x, quarksmith_field* b,
                                          quarksmith_solve_report* reports) {
  return call<SolverHandle>(__func__, "solver", solver, [&](SolverHandle& s) {
    const auto to = operand<Field>(x, "x", s), from = operand<Field>(b, "b", s);
    if (reports != nullptr) require_struct(reports, "quarksmith_solve_report");
    for (const Field* f : {to.get(), from.get()})
      if (&f->spinors.precision() != &find_precision("double") || f->spinors.subset() != Subset::full ||
          f->basis != &s.solver.basis())
        throw StatusError(
            QUARKSMITH_BAD_ARGUMENT,
            fmt::format("x and b must be full double fields in basis {}; create them so", s.solver.basis().name));
    if (to == from) refuse("x and b are one field; pass two");
    if (to->spinors.rhs() != from->spinors.rhs())
      throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                        fmt::format("x has {} right-hand sides, b has {}; pass two fields with as many each",
                                    to->spinors.rhs(), from->spinors.rhs()));
    report_all(s.solver.solve_all(to->spinors, from->spinors), s.settings, reports);
  });
}

quarksmith_status quarksmith_shifted_create(quarksmith_gauge* gauge, const quarksmith_action* action,
                                            const quarksmith_solver_settings* settings, int shifts,
                                            quarksmith_shifted** solver) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g) {
    const Action a = action_of(action, g.gauge.phase, g.lattice());
    const SolveSettings chosen = settings_of(settings, a, g.gauge);
    require(solver, "solver");
    if (shifts < 1) throw StatusError(QUARKSMITH_BAD_ARGUMENT, fmt::format("{} shifts; use at least 1", shifts));
    give<ShiftedHandle>(solver, g.session, g.gauge, a, chosen, shifts);
  });
}

quarksmith_status quarksmith_shifted_solve(quarksmith_shifted* solver, int n, const double* shifts, void* const* x,
                                           const void* b, const quarksmith_spinor_format* format,
                                           quarksmith_solve_report* reports) {
  return call<ShiftedHandle>(__func__, "solver", solver, [&](ShiftedHandle& s) {
    const SpinorArrays arrays(s.lattice(), require_struct(format, "quarksmith_spinor_format"));
    const Subset subset = s.solver.subset();
    arrays.require_fits(subset);
    if (reports != nullptr) require_struct(reports, "quarksmith_solve_report");
    require(shifts, "shifts");
    require_all(x, n, "x");
    require(b, "b");
    require_apart(x, n, "x", &b, 1, "b");
    if (n > s.most)
      throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                        fmt::format("{} shifts for a solver of {}; create it for as many", n, s.most));
    const BasisInfo& basis = s.solver.basis();
    const PrecisionInfo& precision = find_precision("double");
    SpinorField from(s.session->domain, precision, subset, 1);
    upload_all(arrays, &b, from, basis);
    SpinorField to(s.session->domain, precision, subset, n);
    const std::vector<ShiftReport> solved = s.solver.solve(to, from, {shifts, shifts + n});
    download_all(to, basis, arrays, x);
    report_all(solved, s.settings, reports, "shift");
  });
}
