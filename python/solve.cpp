#include "python/solve.hpp"

#include <fmt/format.h>

#include "apps/action_options.hpp"
#include "apps/caller.hpp"
#include "apps/contraction.hpp"
#include "apps/eigen_options.hpp"
#include "apps/interrupt.hpp"
#include "apps/option_rules.hpp"
#include "apps/solver_options.hpp"
#include "runtime/error.hpp"

namespace quarksmith::python {
namespace {

const ChoiceNames python_names = {"a larger max_iterations", "solver='cg'", "precision='double'", "a larger tol"};

struct SolveOptions {
  apps::CommonOptions common;
  apps::ActionOptions action;
  apps::SolverChoices choices;
  apps::DeflationOption deflate;
  std::string solver, precision = "double";
  int batch = 0;
};

nlohmann::ordered_json to_json(const SolveReport& r) {
  nlohmann::ordered_json j = {{"iterations", r.iterations}, {"residual", r.residual}, {"converged", r.converged},
                              {"seconds", r.seconds},       {"gflops", r.gflops},     {"solver", name_of(r.method)},
                              {"precision", r.precision},   {"links", r.links}};
  for (const SolverEvent& e : r.events) j["events"].push_back({{"iteration", e.iteration}, {"what", e.what}});
  return j;
}

/// One call of solve.
class Solve {
 public:
  Solve(const SolveOptions& o, const CLI::App& command, SolveJob& job)
      : o_(o),
        job_(job),
        named_(apps::open_gauge(o.action.gauge, o.action.lattice, o.common)),
        choice_(o.action.choose(command, named_.gauge, o.common)),
        settings_(o.choices.settings(command, named_.gauge, choice_.action, o.common)),
        domain_(domain()) {
    if (choice_.masses.size() > 1)
      throw UsageError(fmt::format("solve takes one mass, not {}; call it for each, or propagator for all of them",
                                   choice_.masses.size()));
    settings_.method = method_of(o.solver.empty() ? choice_.solver : o.solver);
    settings_.precision = o.precision;
    settings_.options.observer = [](int, double) { apps::look_for_signals(); };
    if (o.deflate.given())
      settings_.deflation = o.deflate.make(choice_, named_.gauge, domain_, settings_, o.choices.even_odd, o.common,
                                           apps::look_for_signals);
  }

  void operator()() {
    const Solver solver(choice_.action, named_.gauge, domain_, settings_);
    apps::tell(solver.link_deviation(), settings_, o_.common);
    const SpinorField& b = job_.b->field;
    job_.x.emplace(SpinorObject{b.like(), &solver.basis()});
    const int width = o_.batch > 0 ? o_.batch : apps::columns_at_once(solver, choice_.action, b.rhs(), o_.common);
    std::vector<SolveReport> reports;
    for (int first = 0; first < b.rhs(); first += width) {
      const int count = std::min(width, b.rhs() - first);
      for (SolveReport& r : solve(solver, first, count)) reports.push_back(std::move(r));
    }
    apps::tell_events(reports, [](int n) { return fmt::format("right-hand side {}", n); }, o_.common);
    tell(reports);
  }

 private:
  /// That of b, or one for longer hops. \throws UsageError b is of another lattice, or of other quarks.
  DomainPointer domain() const {
    const SpinorField& b = job_.b->field;
    const Action& action = choice_.action;
    if (b.domain().lattice() != named_.gauge.lattice)
      throw WrongLattice(fmt::format("rhs is of lattice {}, the links of {}; take both of one",
                                     b.domain().lattice().text(), named_.gauge.lattice.text()));
    if (b.spins() != action.spins())
      throw UsageError(fmt::format("rhs has spins={}, quarks of action {} have {}; make it with spins={}", b.spins(),
                                   action.name(), action.spins(), action.spins()));
    if (b.domain().reach() >= action.reach()) return b.domain_pointer();
    return std::make_shared<Domain>(b.domain().lattice(), b.domain().device_pointer(),
                                    b.domain().communicator_pointer(), action.reach());
  }

  std::vector<SolveReport> solve(const Solver& solver, int first, int count) {
    SpinorObject& x = *job_.x;
    const SpinorObject given{job_.b->field.columns(first, count), job_.b->basis};
    SpinorObject to{x.field.columns(first, count), x.basis};
    if (alike(given.field.domain(), *domain_) && given.basis == to.basis)
      return solver.solve_sources(to.field, given.field);
    const auto fitting = [&] {
      return SpinorObject{SpinorField(domain_, find_precision("double"), Subset::full, count, given.field.components()),
                          x.basis};
    };
    SpinorObject source = fitting(), quark = fitting();
    move_columns(given, source);
    std::vector<SolveReport> reports = solver.solve_sources(quark.field, source.field);
    move_columns(quark, to);
    return reports;
  }

  void tell(const std::vector<SolveReport>& reports) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (std::size_t n = 0; n < reports.size(); ++n) {
      const SolveReport& r = reports[n];
      all.push_back(to_json(r));
      if (!r.converged && job_.failure.empty())
        job_.failure =
            fmt::format("right-hand side {}: not converged: residual {:.2e} after {} iterations, {:.1e} asked for; {}",
                        n, r.residual, r.iterations, o_.choices.tolerance, remedy_of(settings_, r, python_names));
    }
    o_.common.write_json({{"solves", all}, {"provenance", apps::to_json(choice_.provenance)}});
  }

  const SolveOptions& o_;
  SolveJob& job_;
  apps::NamedGauge named_;
  apps::ActionChoice choice_;
  SolveSettings settings_;
  DomainPointer domain_;
};

void check(const SolveOptions& o, const CLI::App& command) {
  const ActionInfo& action = o.action.info(command);
  const std::string solver = o.solver.empty() ? apps::default_solver(action) : o.solver;
  apps::check_options(command, {listed_name(action), {solver}, {o.precision}, o.choices.preconditioner});
  o.action.check(command);
  o.choices.check({solver});
  o.deflate.check();
}

}  // namespace

void add_solve(CLI::App& app, SolveJob& job) {
  auto o = std::make_shared<SolveOptions>();
  CLI::App* c = app.add_subcommand("solve", "Solve M x = b for all right-hand sides; returns x");
  o->action.add_to(*c);
  apps::add_method(*c, o->solver, o->precision);
  o->choices.add_to(*c);
  o->deflate.add_to(*c);
  c->add_option("--batch", o->batch,
                "right-hand sides solved together (default: as many as the GPU's memory holds; on the CPU 1)")
      ->check(CLI::PositiveNumber);
  o->common.add_to(*c, 0);
  c->callback([o, c, &job] {
    check(*o, *c);
    Solve(*o, *c, job)();
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
  o->common.add_to(*c, apps::CommonOptions::computes | apps::CommonOptions::colourful);
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
