#include "apps/kept_solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/interrupt.hpp"
#include "apps/option_rules.hpp"
#include "runtime/error.hpp"

namespace quarksmith::apps {
namespace {

/// A lattice, and how ranks share it, in words.
std::string shared_text_of(const Lattice& lattice) {
  const std::string whole = lattice.global_text();
  return lattice.parts() == 1 ? whole : fmt::format("{} on grid {}", whole, fmt::join(lattice.grid(), ","));
}

/// The domain of right-hand sides, or one of its lattice for longer hops.
DomainPointer for_hops(const DomainPointer& domain, const Action& action, const Lattice& lattice) {
  if (domain->lattice() != lattice)
    throw WrongLattice(fmt::format("rhs is of lattice {}, the links of {}; take both of one",
                                   shared_text_of(domain->lattice()), shared_text_of(lattice)));
  if (domain->reach() >= action.reach()) return domain;
  return std::make_shared<Domain>(domain->lattice(), domain->device_pointer(), domain->communicator_pointer(),
                                  action.reach());
}

}  // namespace

void SolveOptions::add_to(CLI::App& c) {
  action.add_to(c);
  add_method(c, solver, precision);
  choices.add_to(c);
  deflate.add_to(c);
  c.add_option("--batch", batch,
               "right-hand sides solved together (default: as many as the GPU's memory holds; on the CPU 1)")
      ->check(CLI::PositiveNumber);
}

void SolveOptions::check(const CLI::App& command) const {
  const ActionInfo& info = action.info(command);
  const std::string used = solver.empty() ? default_solver(info) : solver;
  check_options(command, {listed_name(info), {used}, {precision}, choices.preconditioner});
  action.check(command);
  choices.check({used});
  deflate.check();
  common.claim({{"--mg-save", choices.near_null.save, true}}, {{"--mg-load", choices.near_null.load}});
}

void move_columns(const SpinorField& from, const BasisInfo& basis, const QuarkNumbers& to) {
  if (&basis == &to.basis && alike(from.domain(), to.field.domain())) return to.field.copy_from(from);
  HostSpinor column(from.domain().lattice(), from.colours());
  for (int n = 0; n < from.rhs(); ++n) {
    download(from, column, basis, n);
    upload(column, to.field, to.basis, n);
  }
}

KeptSolver::KeptSolver(std::shared_ptr<const SolveOptions> options, const CLI::App& command, const NamedGauge& named,
                       const DomainPointer& domain, bool begins, const ChoiceNames& names)
    : options_(std::move(options)),
      o_(*options_),
      names_(names),
      lattice_(named.gauge.lattice),
      choice_(o_.action.choose(command, named.gauge, o_.common)),
      settings_(o_.choices.settings(command, named.gauge, choice_.action, o_.common)),
      domain_(for_hops(domain, choice_.action, lattice_)) {
  if (choice_.masses.size() > 1)
    throw UsageError(fmt::format("solve takes one mass, not {}; call it for each, or propagator for all of them",
                                 choice_.masses.size()));
  settings_.method = method_of(o_.solver.empty() ? choice_.solver : o_.solver);
  settings_.precision = o_.precision;
  settings_.options.observer = [](int, double) { look_for_signals(); };
  settings_.from_guess = begins && !o_.deflate.given() && action().slices() == 1;
  if (o_.deflate.given())
    settings_.deflation =
        o_.deflate.make(choice_, named.gauge, domain_, settings_, o_.choices.even_odd, o_.common, look_for_signals);
  settings_.near_null = o_.choices.near_null.read(choice_, named.gauge, domain_, settings_, o_.common);
  solver_ = std::make_unique<Solver>(choice_.action, named.gauge, domain_, settings_);
  tell(solver_->link_deviation(), settings_, o_.common);
  if (o_.choices.near_null.save.empty()) return;
  solver_->prepare(1);
  o_.choices.near_null.write(*solver_, choice_, named, o_.common);
}

void KeptSolver::check(const SpinorField& given, const char* name) const {
  if (given.domain().lattice() != lattice_)
    throw WrongLattice(fmt::format("{} is of lattice {}, the links of {}; take both of one", name,
                                   shared_text_of(given.domain().lattice()), shared_text_of(lattice_)));
  if (given.spins() != action().spins())
    throw UsageError(fmt::format("{} has spins={}, quarks of action {} have {}; make it with spins={}", name,
                                 given.spins(), action().name(), action().spins(), action().spins()));
}

void KeptSolver::require_guess(const char* guess, const char* deflate) const {
  if (settings_.from_guess) return;
  throw UsageError(o_.deflate.given()
                       ? fmt::format("{} and {} both begin a solve; leave one of them out", guess, deflate)
                       : fmt::format("{}: solves of action {} are of {} slices, which a quark field does "
                                     "not hold; leave it out",
                                     guess, action().name(), action().slices()));
}

std::vector<SolveReport> KeptSolver::solve(const QuarkNumbers& x, const SpinorField& b, const BasisInfo& basis) const {
  const int width = o_.batch > 0 ? o_.batch : columns_at_once(*solver_, action(), b.rhs(), o_.common);
  std::vector<SolveReport> reports;
  for (int first = 0; first < b.rhs(); first += width) {
    const int count = std::min(width, b.rhs() - first);
    SpinorField to = x.field.columns(first, count);
    for (SolveReport& r : some({to, x.basis}, b.columns(first, count), basis)) reports.push_back(std::move(r));
  }
  tell_events(reports, [](int n) { return fmt::format("right-hand side {}", n); }, o_.common);
  return reports;
}

std::vector<SolveReport> KeptSolver::some(const QuarkNumbers& x, const SpinorField& b, const BasisInfo& basis) const {
  const auto fits = [&](const SpinorField& f, const BasisInfo& of) {
    return &of == &solver_->basis() && alike(f.domain(), *domain_);
  };
  if (fits(b, basis) && fits(x.field, x.basis)) return solver_->solve_sources(x.field, b);
  const auto fitting = [&](const SpinorField& from, const BasisInfo& of) {
    SpinorField made(domain_, find_precision("double"), Subset::full, from.rhs(), from.components());
    move_columns(from, of, {made, solver_->basis()});
    return made;
  };
  const SpinorField source = fitting(b, basis);
  SpinorField quark = fitting(x.field, x.basis);
  std::vector<SolveReport> reports = solver_->solve_sources(quark, source);
  move_columns(quark, solver_->basis(), x);
  return reports;
}

std::string KeptSolver::failure(const std::vector<SolveReport>& reports) const {
  for (std::size_t n = 0; n < reports.size(); ++n)
    if (const SolveReport& r = reports[n]; !r.converged)
      return fmt::format("right-hand side {}: not converged: residual {:.2e} after {} iterations, {:.1e} asked for; {}",
                         n, r.residual, r.iterations, o_.choices.tolerance, remedy_of(settings_, r, names_));
  return {};
}

}  // namespace quarksmith::apps
