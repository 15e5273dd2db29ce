// Solvers of quarksmith.h.
#include "interface/arrays.hpp"
#include "interface/options.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/solve/shifted.hpp"

namespace quarksmith::interface {

struct SolverHandle final : Handle {
  SolverHandle(std::shared_ptr<SharedDomain> s, std::unique_ptr<SolverDescription> d, const GaugeLinks& gauge,
               std::shared_ptr<const NearNullVectors> begin = nullptr)
      : Handle(std::move(s)),
        description(std::move(d)),
        made(runs::make_solver(*description, {gauge, "links in memory"}, shared->domain, description->guess,
                               description->session, std::move(begin))),
        kept(*made) {
    if (description->guess) kept.require_guess("guess", "deflate");
    description->session.fields.clear();  // it has what it needs of them
  }
  static constexpr HandleKind kind = HandleKind::solver;
  std::unique_ptr<SolverDescription> description;  ///< which the solver refers to, and to its session
  std::unique_ptr<runs::KeptSolver> made;
  runs::KeptSolver& kept;
};

struct ShiftedHandle final : Handle {
  ShiftedHandle(std::shared_ptr<SharedDomain> s, std::unique_ptr<ShiftedDescription> d, const GaugeLinks& gauge,
                const Action& action, const SolveSettings& chosen, int shifts)
      : Handle(std::move(s)),
        description(std::move(d)),
        settings(chosen),
        most(shifts),
        solver(action, gauge, domain_for(*shared, action), chosen, shifts) {
    description->session.fields.clear();
    if (description->together) solver.go_together();
  }
  static constexpr HandleKind kind = HandleKind::shifted;
  std::unique_ptr<ShiftedDescription> description;  ///< whose session the settings refer to
  SolveSettings settings;
  int most;
  ShiftedSolver solver;
};

}  // namespace quarksmith::interface

using namespace quarksmith;
using namespace quarksmith::interface;

namespace {

/// Fills the caller's reports.
template <class Report>
void report_all(const std::vector<Report>& solved, quarksmith_solve_report* reports) {
  for (std::size_t r = 0; r < solved.size() && reports != nullptr; ++r) {
    reports[r] = {.size = sizeof(quarksmith_solve_report),
                  .iterations = solved[r].iterations,
                  .converged = solved[r].converged,
                  .residual = solved[r].residual,
                  .seconds = solved[r].seconds,
                  .gflops = solved[r].gflops,
                  .method = name_of(solved[r].method),
                  .heavy_quark = 0};
    if constexpr (requires { solved[r].heavy_quark; }) reports[r].heavy_quark = solved[r].heavy_quark;
  }
}

/// \throws StatusError `failure` is not empty: a solve missed its tolerance.
void require_converged(const std::string& failure) {
  if (!failure.empty()) throw StatusError(QUARKSMITH_NOT_CONVERGED, failure);
}

/// That of the first shift which missed the tolerance.
std::string failure_of(const std::vector<ShiftReport>& solved, const ShiftedHandle& s) {
  for (std::size_t r = 0; r < solved.size(); ++r)
    if (!solved[r].converged)
      return fmt::format("shift {} of {}: residual {:.2e} after {} iterations, {:.1e} asked for; {}", r, solved.size(),
                         solved[r].residual, solved[r].iterations, s.settings.options.tolerance,
                         remedy_of(s.settings, solved[r], s.description->solve.choice_names()));
  return {};
}

}  // namespace

quarksmith_status quarksmith_solve_report_init(quarksmith_solve_report* report) { return init(__func__, report); }

quarksmith_status quarksmith_solver_create(quarksmith_gauge* gauge, const char* options, quarksmith_solver** solver) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(solver, "solver");
    auto description = read_options<SolverDescription>(options, g);
    agree(text_of(options));
    give<SolverHandle>(solver, g.shared, std::move(description), g.given);
  });
}

quarksmith_status quarksmith_solver_follow(quarksmith_gauge* gauge, const char* options, quarksmith_solver* before,
                                           int adapt, quarksmith_solver** solver) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(solver, "solver");
    const bool adapts = choice(adapt, "adapt", "0 or 1");
    auto description = read_options<SolverDescription>(options, g);
    std::shared_ptr<NearNullVectors> begin;
    if (before != nullptr) {
      const auto from = operand<SolverHandle>(before, "before", g);
      begin = std::make_shared<NearNullVectors>(NearNullVectors{from->kept.multigrid().vectors(), adapts});
    }
    agree(text_of(options), before != nullptr, adapt);
    auto made = std::make_shared<SolverHandle>(g.shared, std::move(description), g.given, std::move(begin));
    made->kept.multigrid();
    give(solver, std::move(made));
  });
}

quarksmith_status quarksmith_solver_limits(quarksmith_solver* solver, double tol, int max_iterations) {
  return call<SolverHandle>(__func__, "solver", solver, [&](SolverHandle& s, Agreement& agree) {
    agree(tol, max_iterations);
    s.kept.limit(tol, max_iterations);
  });
}

quarksmith_status quarksmith_solve(quarksmith_solver* solver, int n, void* const* x, const void* const* b,
                                   const quarksmith_spinor_format* format, quarksmith_solve_report* reports) {
  return call<SolverHandle>(__func__, "solver", solver, [&](SolverHandle& s, Agreement& agree) {
    const runs::KeptSolver& kept = s.kept;
    const int spins = kept.action().spins();
    const SpinorArrays arrays(s.lattice(), format, spins, kept.basis());
    arrays.require_fits(Subset::full);
    if (reports != nullptr) require_struct(reports, "quarksmith_solve_report");
    require_all(b, n, "b");
    require_all(x, n, "x");
    require_apart(x, n, "x", b, n, "b");
    SpinorField from(kept.domain(), find_precision("double"), Subset::full, n, spins);
    upload_all(arrays, b, from);
    SpinorField to = from.like();
    if (kept.begins()) upload_all(arrays, x, to);
    agree(n);
    const std::vector<SolveReport> solved = kept.solve({to, kept.basis()}, from, kept.basis());
    download_all(to, arrays, x);
    report_all(solved, reports);
    require_converged(kept.failure(solved));
  });
}

quarksmith_status quarksmith_solve_fields(quarksmith_solver* solver, quarksmith_field* x, quarksmith_field* b,
                                          quarksmith_solve_report* reports) {
  return call<SolverHandle>(__func__, "solver", solver, [&](SolverHandle& s, Agreement& agree) {
    const auto to = operand<Field>(x, "x", s), from = operand<Field>(b, "b", s);
    if (reports != nullptr) require_struct(reports, "quarksmith_solve_report");
    for (const auto& [f, name] : {std::pair(to.get(), "x"), std::pair(from.get(), "b")}) {
      s.kept.check(f->spinors, name);
      if (&f->spinors.precision() != &find_precision("double") || f->spinors.subset() != Subset::full ||
          f->spinors.slices() != 1)
        refuse(fmt::format("{} is no double field of one slice on all sites; create it so", name));
    }
    if (to == from) refuse("x and b are one field; pass two");
    if (to->spinors.rhs() != from->spinors.rhs())
      refuse(fmt::format("x has {} right-hand sides, b has {}; pass two fields with as many each", to->spinors.rhs(),
                         from->spinors.rhs()));
    agree(from->spinors.rhs());
    const std::vector<SolveReport> solved = s.kept.solve({to->spinors, *to->basis}, from->spinors, *from->basis);
    report_all(solved, reports);
    require_converged(s.kept.failure(solved));
  });
}

quarksmith_status quarksmith_shifted_create(quarksmith_gauge* gauge, const char* options, int shifts,
                                            quarksmith_shifted** solver) {
  return call<Gauge>(__func__, "gauge", gauge, [&](Gauge& g, Agreement& agree) {
    require(solver, "solver");
    if (shifts < 1) refuse(fmt::format("{} shifts; use at least 1", shifts));
    auto d = read_options<ShiftedDescription>(options, g);
    agree(text_of(options), shifts);
    const runs::ActionChoice choice = d->choose(g.given);
    SolveSettings settings = d->solve.settings(g.given, choice.action, d->session);
    settings.kept = kept_sites(d->parity);
    give<ShiftedHandle>(solver, g.shared, std::move(d), g.given, choice.action, settings, shifts);
  });
}

quarksmith_status quarksmith_shifted_limits(quarksmith_shifted* solver, double tol, int max_iterations,
                                            double heavy_quark) {
  return call<ShiftedHandle>(__func__, "solver", solver, [&](ShiftedHandle& s, Agreement& agree) {
    if (heavy_quark != 0 && !s.description->guess)
      refuse("a heavy-quark residual of a solver of many shifts at a time; create it with guess");
    agree(tol, max_iterations, heavy_quark);
    s.solver.limit(tol, max_iterations, heavy_quark);
    s.settings.options.tolerance = tol;
  });
}

quarksmith_status quarksmith_shifted_solve(quarksmith_shifted* solver, int n, const double* shifts, void* const* x,
                                           const void* b, const quarksmith_spinor_format* format,
                                           quarksmith_solve_report* reports) {
  return call<ShiftedHandle>(__func__, "solver", solver, [&](ShiftedHandle& s, Agreement& agree) {
    SpinorField from = s.solver.field(1);
    const SpinorArrays arrays(s.lattice(), format, from.spins(), s.solver.basis());
    arrays.require_fits(from.subset());
    if (reports != nullptr) require_struct(reports, "quarksmith_solve_report");
    require(shifts, "shifts");
    require_all(x, n, "x");
    require(b, "b");
    require_apart(x, n, "x", &b, 1, "b");
    if (n > s.most)
      throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                        fmt::format("{} shifts for a solver of {}; create it for as many", n, s.most));
    const bool begins = s.description->guess;
    if (begins && n > 1) refuse(fmt::format("{} shifts of a solver with guess; solve for one at a time", n));
    upload_all(arrays, arrays.of_slices(&b, 1, from.slices()).data(), from);
    SpinorField to = s.solver.field(n);
    if (begins) upload_all(arrays, arrays.of_slices(x, n, from.slices()).data(), to);
    agree(std::vector(shifts, shifts + n));
    const std::vector<ShiftReport> solved =
        begins ? std::vector{s.solver.improve(to, from, shifts[0])} : s.solver.solve(to, from, {shifts, shifts + n});
    download_all(to, arrays, arrays.of_slices(x, n, from.slices()).data());
    report_all(solved, reports);
    require_converged(failure_of(solved, s));
  });
}
