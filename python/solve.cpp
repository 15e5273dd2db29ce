#include "python/solve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// A solver with the options of one call.
class OpenSolver final : public KeptSolver {
 public:
  /// \param domain of right-hand sides; null: as a solver on the device of --device has it.
  OpenSolver(std::shared_ptr<const SolveOptions> options, const CLI::App& command, const DomainPointer& domain)
      : options_(std::move(options)),
        o_(*options_),
        named_(apps::open_gauge(o_.action.gauge, o_.action.lattice, o_.common)),
        choice_(o_.action.choose(command, named_.gauge, o_.common)),
        settings_(o_.choices.settings(command, named_.gauge, choice_.action, o_.common)),
        domain_(fitting(domain ? domain : domain_of(named_.gauge.lattice, "auto"))) {
    if (choice_.masses.size() > 1)
      throw UsageError(fmt::format("solve takes one mass, not {}; call it for each, or propagator for all of them",
                                   choice_.masses.size()));
    settings_.method = method_of(o_.solver.empty() ? choice_.solver : o_.solver);
    settings_.precision = o_.precision;
    settings_.options.observer = [](int, double) { apps::look_for_signals(); };
    settings_.from_guess = !o_.deflate.given() && choice_.action.slices() == 1;
    if (o_.deflate.given())
      settings_.deflation = o_.deflate.make(choice_, named_.gauge, domain_, settings_, o_.choices.even_odd, o_.common,
                                            apps::look_for_signals);
    solver_ = std::make_unique<Solver>(choice_.action, named_.gauge, domain_, settings_);
    apps::tell(solver_->link_deviation(), settings_, o_.common);
  }

  Solved solve(const SpinorObject& rhs, const SpinorObject* guess) const override {
    const SpinorField& b = rhs.field;
    check(rhs, "rhs");
    if (guess != nullptr) check_guess(*guess, b);
    Solved solved{SpinorObject{b.like(), &solver_->basis()}, {}};
    SpinorField& x = solved.x.field;
    if (guess != nullptr)
      move_columns(*guess, solved.x);
    else
      x.fill(0);
    const int width = o_.batch > 0 ? o_.batch : apps::columns_at_once(*solver_, choice_.action, b.rhs(), o_.common);
    std::vector<SolveReport> reports;
    for (int first = 0; first < b.rhs(); first += width) {
      const int count = std::min(width, b.rhs() - first);
      for (SolveReport& r : solve(rhs, solved.x, first, count)) reports.push_back(std::move(r));
    }
    apps::tell_events(reports, [](int n) { return fmt::format("right-hand side {}", n); }, o_.common);
    solved.failure = tell(reports);
    return solved;
  }

 private:
  /// A lattice, and how ranks share it, in words.
  static std::string text_of(const Lattice& lattice) {
    const std::string whole = lattice.global_text();
    return lattice.parts() == 1 ? whole : fmt::format("{} on grid {}", whole, fmt::join(lattice.grid(), ","));
  }
  /// For right-hand sides of these quarks. \throws UsageError they are of another lattice, or of other quarks.
  void check(const SpinorObject& given, const char* name) const {
    const SpinorField& b = given.field;
    const Action& action = choice_.action;
    if (b.domain().lattice() != named_.gauge.lattice)
      throw WrongLattice(fmt::format("{} is of lattice {}, the links of {}; take both of one", name,
                                     text_of(b.domain().lattice()), text_of(named_.gauge.lattice)));
    if (b.spins() != action.spins())
      throw UsageError(fmt::format("{} has spins={}, quarks of action {} have {}; make it with spins={}", name,
                                   b.spins(), action.name(), action.spins(), action.spins()));
  }
  void check_guess(const SpinorObject& guess, const SpinorField& b) const {
    check(guess, "guess");
    if (guess.field.rhs() != b.rhs())
      throw UsageError(
          fmt::format("guess has {} right-hand sides, rhs has {}; give one for each", guess.field.rhs(), b.rhs()));
    if (!settings_.from_guess)
      throw UsageError(o_.deflate.given()
                           ? "guess and deflate both begin a solve; leave one of them out"
                           : fmt::format("guess: solves of action {} are of {} slices, which a quark field does not "
                                         "hold; leave it out",
                                         choice_.action.name(), choice_.action.slices()));
  }
  /// That domain, or one of its lattice for longer hops.
  DomainPointer fitting(const DomainPointer& domain) const {
    const Action& action = choice_.action;
    if (domain->lattice() != named_.gauge.lattice)
      throw WrongLattice(fmt::format("rhs is of lattice {}, the links of {}; take both of one",
                                     text_of(domain->lattice()), text_of(named_.gauge.lattice)));
    if (domain->reach() >= action.reach()) return domain;
    return std::make_shared<Domain>(domain->lattice(), domain->device_pointer(), domain->communicator_pointer(),
                                    action.reach());
  }

  std::vector<SolveReport> solve(const SpinorObject& b, SpinorObject& x, int first, int count) const {
    const SpinorObject given{b.field.columns(first, count), b.basis};
    SpinorObject to{x.field.columns(first, count), x.basis};
    if (alike(given.field.domain(), *domain_) && given.basis == to.basis)
      return solver_->solve_sources(to.field, given.field);
    const auto fitting = [&](const SpinorObject& from) {
      SpinorObject made{SpinorField(domain_, find_precision("double"), Subset::full, count, from.field.components()),
                        x.basis};
      move_columns(from, made);
      return made;
    };
    SpinorObject source = fitting(given), quark = fitting(to);
    std::vector<SolveReport> reports = solver_->solve_sources(quark.field, source.field);
    move_columns(quark, to);
    return reports;
  }

  /// Tells what was done; returns what failed.
  std::string tell(const std::vector<SolveReport>& reports) const {
    std::string failure;
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (std::size_t n = 0; n < reports.size(); ++n) {
      const SolveReport& r = reports[n];
      all.push_back(to_json(r));
      if (!r.converged && failure.empty())
        failure =
            fmt::format("right-hand side {}: not converged: residual {:.2e} after {} iterations, {:.1e} asked for; {}",
                        n, r.residual, r.iterations, o_.choices.tolerance, remedy_of(settings_, r, python_names));
    }
    o_.common.write_json({{"solves", all}, {"provenance", apps::to_json(choice_.provenance)}});
    return failure;
  }

  std::shared_ptr<const SolveOptions> options_;
  const SolveOptions& o_;
  apps::NamedGauge named_;
  apps::ActionChoice choice_;
  SolveSettings settings_;
  DomainPointer domain_;
  std::unique_ptr<Solver> solver_;
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
  o->common.add_to(*c, apps::CommonOptions::shares);
  c->callback([o, c, &job] {
    check(*o, *c);
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
