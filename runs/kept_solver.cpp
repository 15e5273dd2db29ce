#include "runs/kept_solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "runs/column_groups.hpp"
#include "runtime/error.hpp"
#include "solvers/solve/checked_norms.hpp"

namespace quarksmith::runs {
namespace {

/// A lattice, and how ranks share it, in words.
std::string shared_text_of(const Lattice& lattice) {
  const std::string whole = lattice.global_text();
  return lattice.ranks() == 1 ? whole : fmt::format("{} on grid {}", whole, fmt::join(lattice.grid(), ","));
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

void InversionDescription::list(Members& members) {
  action.list(members);
  solve.list(members);
  deflate.list(members);
  auto add = members.of(*this);
  add("batch", batch, "right-hand sides solved together (default: as many as the GPU's memory holds; on the CPU 1)")
      .range(1, std::numeric_limits<double>::infinity())
      .open();
  list_split(add, split, "");
}

void move_columns(const SpinorField& from, const BasisInfo& basis, const QuarkNumbers& to) {
  if (&basis == &to.basis && alike(from.domain(), to.field.domain())) return to.field.copy_from(from);
  HostSpinor column(from.domain().lattice(), from.colours());
  for (int n = 0; n < from.rhs(); ++n) {
    download(from, column, basis, n);
    upload(column, to.field, to.basis, n);
  }
}

KeptSolver::KeptSolver(const InversionDescription& d, const NamedGauge& named, const DomainPointer& domain, bool begins,
                       Session& session, std::shared_ptr<const NearNullVectors> begin)
    : d_(d),
      session_(session),
      lattice_(named.gauge.lattice()),
      choice_(d.action.choose(named.gauge, session)),
      settings_(d.solve.settings(named.gauge, choice_.action, session)),
      domain_(for_hops(domain, choice_.action, lattice_)) {
  if (choice_.masses.size() > 1)
    throw UsageError(fmt::format("solve takes one mass, not {}; call it for each, or propagator for all of them",
                                 choice_.masses.size()));
  session.claim({{"mg_save", d.solve.near_null.save, true}},
                {{"mg_load", d.solve.near_null.load}, {"deflate", d.deflate.text}});
  settings_.options.observer = [&session](int, double) { session.look(); };
  settings_.from_guess = begins && !d.deflate.is_given() && action().slices() == 1;
  if (d.deflate.is_given())
    settings_.deflation = d.deflate.make(choice_, named.gauge, domain_, settings_, d.solve.even_odd, session,
                                         [&session] { session.look(); });
  const NearNullDescription& near_null = d.solve.near_null;
  if (begin != nullptr) near_null.refuse_given({"mg_load"}, "and near-null vectors of a solver are two beginnings");
  settings_.near_null = begin != nullptr ? begin : near_null.read(choice_, named.gauge, domain_, settings_, session);
  solver_ = std::make_unique<Solver>(choice_.action, named.gauge, domain_, settings_);
  tell(solver_->link_deviation(), settings_, session);
  if (near_null.save.empty()) return;
  solver_->prepare(1);
  near_null.write(*solver_, choice_, named, session);
}

void KeptSolver::limit(double tolerance, int max_iterations) {
  solver_->limit(tolerance, max_iterations);
  settings_.options.tolerance = tolerance;
  settings_.options.max_iterations = max_iterations;
}

const Multigrid& KeptSolver::multigrid() const {
  solver_->prepare(1);
  if (const Multigrid* made = solver_->multigrid()) return *made;
  throw UsageError(fmt::format("solver {} has no near-null vectors; use multigrid", name_of(settings_.method)));
}

void KeptSolver::check(const SpinorField& given, const char* name) const {
  if (given.domain().lattice() != lattice())
    throw WrongLattice(fmt::format("{} is of lattice {}, the links of {}; take both of one", name,
                                   shared_text_of(given.domain().lattice()), shared_text_of(lattice())));
  if (given.spins() != action().spins())
    throw UsageError(fmt::format("{} has spins={}, quarks of action {} have {}; make it with spins={}", name,
                                 given.spins(), action().name(), action().spins(), action().spins()));
}

void KeptSolver::require_guess(const char* guess, const char* deflate) const {
  if (settings_.from_guess) return;
  throw UsageError(d_.deflate.is_given()
                       ? fmt::format("{} and {} both begin a solve; leave one of them out", guess, deflate)
                       : fmt::format("{}: solves of action {} are of {} slices, which a quark field does "
                                     "not hold; leave it out",
                                     guess, action().name(), action().slices()));
}

std::vector<SolveReport> KeptSolver::solve(const QuarkNumbers& x, const SpinorField& b, const BasisInfo& basis) const {
  checked_norms(b);  // of all columns, so that a message has the number that the caller knows
  std::vector<SolveReport> reports = solve_all(x, b, basis);
  tell_events(reports, [](int n) { return fmt::format("right-hand side {}", n); }, session_);
  return reports;
}

std::vector<SolveReport> KeptSolver::solve_all(const QuarkNumbers& x, const SpinorField& b,
                                               const BasisInfo& basis) const {
  const int width = d_.batch > 0 ? d_.batch : columns_at_once(*solver_, action(), b.rhs(), session_);
  std::vector<SolveReport> reports;
  for (int first = 0; first < b.rhs(); first += width) {
    const int count = std::min(width, b.rhs() - first);
    SpinorField to = x.field.columns(first, count);
    for (SolveReport& r : some({to, x.basis}, b.columns(first, count), basis)) reports.push_back(std::move(r));
  }
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
      return fmt::format("right-hand side {}: {}", n,
                         failure_text(r, settings_, choice_.action, d_.solve.choice_names()));
  return {};
}

}  // namespace quarksmith::runs
