#include "python/solve.hpp"

#include <fmt/format.h>

#include "apps/caller.hpp"
#include "apps/contraction.hpp"
#include "apps/kept_solver.hpp"
#include "runtime/error.hpp"

namespace quarksmith::python {
namespace {

const ChoiceNames python_names = {"a larger max_iterations", "solver='cg'", "precision='double'", "a larger tol"};

nlohmann::ordered_json to_json(const SolveReport& r) {
  nlohmann::ordered_json j = {{"iterations", r.iterations}, {"residual", r.residual}, {"converged", r.converged},
                              {"seconds", r.seconds},       {"gflops", r.gflops},     {"solver", name_of(r.method)},
                              {"precision", r.precision},   {"links", r.links}};
  for (const SolverEvent& e : r.events) j["events"].push_back({{"iteration", e.iteration}, {"what", e.what}});
  return j;
}

/// A solver with the options of one call.
class OpenSolver final : public KeptSolver {
 public:
  /// \param domain of right-hand sides; null: as a solver on a device of its own has it.
  OpenSolver(std::shared_ptr<const apps::SolveOptions> o, const CLI::App& command, const DomainPointer& domain)
      : OpenSolver(o, command, apps::open_gauge(o->action.gauge, o->action.lattice, o->common), domain) {}

  Solved solve(const SpinorObject& rhs, const SpinorObject* guess) const override {
    const SpinorField& b = rhs.field;
    solver_.check(b, "rhs");
    if (guess != nullptr) check_guess(*guess, b);
    Solved solved{SpinorObject{b.like(), &solver_.basis()}, {}};
    if (guess != nullptr)
      move_columns(*guess, solved.x);
    else
      solved.x.field.fill(0);
    const std::vector<SolveReport> reports = solver_.solve({solved.x.field, *solved.x.basis}, b, *rhs.basis);
    auto all = nlohmann::ordered_json::array();
    for (const SolveReport& r : reports) all.push_back(to_json(r));
    solver_.options().common.write_json({{"solves", all}, {"provenance", apps::to_json(solver_.provenance())}});
    solved.failure = solver_.failure(reports);
    return solved;
  }

 private:
  OpenSolver(const std::shared_ptr<const apps::SolveOptions>& o, const CLI::App& command, const apps::NamedGauge& named,
             const DomainPointer& domain)
      : solver_(o, command, named, domain ? domain : domain_of(named.gauge.lattice, "auto"), true, python_names) {}

  void check_guess(const SpinorObject& guess, const SpinorField& b) const {
    solver_.check(guess.field, "guess");
    if (guess.field.rhs() != b.rhs())
      throw UsageError(
          fmt::format("guess has {} right-hand sides, rhs has {}; give one for each", guess.field.rhs(), b.rhs()));
    solver_.require_guess("guess", "deflate");
  }

  apps::KeptSolver solver_;
};

}  // namespace

void add_solve(CLI::App& app, SolveJob& job) {
  auto o = std::make_shared<apps::SolveOptions>();
  CLI::App* c = app.add_subcommand("solve", "Solve M x = b for all right-hand sides; returns x");
  o->add_to(*c);
  o->common.add_to(*c, apps::CommonOptions::shares | apps::CommonOptions::replaces);
  c->callback([o, c, &job] {
    o->check(*c);
    auto solver = std::make_unique<OpenSolver>(o, *c, job.b != nullptr ? job.b->field.domain_pointer() : job.domain);
    if (job.b != nullptr)
      job.solved = solver->solve(*job.b, job.guess);
    else
      job.kept = std::move(solver);
  });
}

void add_read(CLI::App& app) {
  struct ReadOptions {
    apps::CommonOptions common;
    std::string gauge, lattice;
  };
  auto o = std::make_shared<ReadOptions>();
  CLI::App* c = app.add_subcommand("read", "Read a configuration, or make one by a rule");
  c->add_option("file", o->gauge, apps::gauge_forms)->required();
  c->add_option("--lattice", o->lattice, "extents X,Y,Z,T, for formats that do not record them");
  o->common.add_to(*c, apps::CommonOptions::computes | apps::CommonOptions::shares | apps::CommonOptions::colourful);
  c->callback([o] {
    apps::NamedGauge named = apps::open_gauge(o->gauge, o->lattice, o->common);
    o->common.write_json({{"origin", named.origin},
                          {"lattice", named.gauge.lattice.global_extent()},
                          {"colours", named.gauge.colours()}});
    o->common.open_device();
    apps::caller()->gauge = std::move(named.gauge);
  });
}

}  // namespace quarksmith::python
