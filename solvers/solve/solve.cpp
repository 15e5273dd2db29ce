#include "solvers/solve/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"
#include "runtime/text.hpp"
#include "solvers/solve/automatic.hpp"
#include "solvers/solve/set_solver.hpp"
#include "solvers/solve/slice_solver.hpp"

namespace quarksmith {

namespace {

/// Precisions that `auto` tries, in this order.
const std::string low_precisions[] = {"double-half", "double-single"};

constexpr std::pair<std::string_view, EvenOddForm> even_odd_forms[] = {
    {"symmetric", EvenOddForm::symmetric}, {"asymmetric", EvenOddForm::asymmetric}, {"none", EvenOddForm::none}};
constexpr std::pair<std::string_view, Updates> forms_of_updates[] = {
    {"reliable", Updates::reliable}, {"replacement", Updates::replacement}, {"defect", Updates::defect}};

std::vector<std::string_view> names_in(const auto& table) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : table) names.push_back(name);
  return names;
}

}  // namespace

EvenOddForm even_odd_form_of(const std::string& name) { return by_name("even-odd form", name, even_odd_forms); }
Updates updates_of(const std::string& name) { return by_name("form of updates", name, forms_of_updates); }
std::vector<std::string_view> even_odd_form_names() { return names_in(even_odd_forms); }
std::vector<std::string_view> updates_names() { return names_in(forms_of_updates); }

Criterion criterion_of(const std::string& name) {
  static constexpr std::pair<std::string_view, Criterion> names[] = {{"residual", Criterion::residual},
                                                                     {"normal", Criterion::normal}};
  return by_name("--criterion", name, names);
}

Precisions precisions_of(const std::string& text, int most) {
  std::vector<const PrecisionInfo*> parts;
  std::istringstream words((text == automatic_precision ? low_precisions[0] : text) +
                           "-");  // a dash at the end is a part without a name
  for (std::string name; std::getline(words, name, '-');) parts.push_back(&find_precision(name));
  if (static_cast<int>(parts.size()) > most)
    throw UsageError(fmt::format("precision '{}': {} parts; {}", text, parts.size(),
                                 most < 3
                                     ? "use one or two, of residuals and of iterations; a third is of a preconditioner"
                                     : "use up to three, the third of a preconditioner"));
  for (std::size_t n = 1; n < parts.size(); ++n)
    if (parts[n]->bits > parts[n - 1]->bits)
      throw UsageError(fmt::format("precision '{}': {} must not be higher than {}, which stands before it", text,
                                   parts[n]->name, parts[n - 1]->name));
  const auto part = [&](std::size_t n) { return parts[std::min(n, parts.size() - 1)]; };
  return {part(0), part(1), part(2)};
}

SolveSettings with_chosen_precision(SolveSettings s, const std::function<void(const SolveSettings&)>& rehearse) {
  if (s.precision != automatic_precision) return s;
  for (const std::string& precision : low_precisions) {
    s.precision = precision;
    SolveSettings trial = s;
    trial.tell = nullptr;
    if (s.method->cycle_fields > 0) {  // cycles work in single: half would cost conversions alone
      if (precisions_of(precision, 2).inner->bits < 24) continue;
      trial.method = Method::gcr;  // which is around them; a rehearsal would set up levels
    }
    if (precisions_of(precision, 2).inner->bits < s.method->least_bits) continue;
    if (KernelRehearsal::finds_all([&] { rehearse(trial); })) return s;
  }
  s.precision = "double";
  return s;
}

void check(const SolverOptions& o) {
  if (o.max_iterations < 1) throw UsageError(fmt::format("{} iterations at most; use at least 1", o.max_iterations));
  if (!(o.tolerance > 0 && o.tolerance < 1))
    throw UsageError(fmt::format("tolerance {}; use a positive number below 1", o.tolerance));
  if (!(o.delta >= 0 && o.delta < 1)) throw UsageError(fmt::format("delta {}; use a number between 0 and 1", o.delta));
}

std::string remedy_of(const SolveSettings& settings, const SolveReport& report, const ChoiceNames& names) {
  const Method method = report.method;
  const auto all_normal = {Method::cg, Method::cgne, Method::block_cg, Method::eigcg, Method::hermitian_cg};
  const bool normal = std::find(all_normal.begin(), all_normal.end(), method) != all_normal.end();
  std::vector<std::string_view> all;
  if (report.iterations >= settings.options.max_iterations) all.push_back(names.iterations);
  if (!normal) all.push_back(names.cg);
  if (precisions_of(settings.precision, 3).outer->name != "double") all.push_back(names.precision);
  all.push_back(names.tolerance);
  return "use " + one_of(all);
}

/// The links turn to the gauge in which solves are made; it outlives what is made of them.
struct Solver::Parts {
  Parts(const Action& action, WorkingGauge working, const DomainPointer& domain, const SolveSettings& settings)
      : gauge(std::move(working)),
        solver(action, gauge, domain, settings),
        automatic(solver, !gauge.transformation.has_value()),
        by_slice(solver, automatic) {}
  const SolveSettings& settings() { return solver.settings(); }

  WorkingGauge gauge;
  SetSolver solver;
  AutomaticSolver automatic;
  SliceSolver by_slice;
};

Solver::Solver(const Action& action, const GaugeLinks& links, DomainPointer domain, const SolveSettings& given) {
  const auto rehearse = [&](const SolveSettings& s) { SetSolver::rehearse(action, s, *domain, links.colours()); };
  const SolveSettings settings = with_chosen_precision(given, rehearse);
  const KernelRehearsal scope([&] { rehearse(settings); });
  parts_ = std::make_unique<Parts>(action, WorkingGauge(links, domain, find_storage(settings.links)), domain, settings);
  if (given.precision == automatic_precision) parts_->solver.learn_precision();
}

Solver::~Solver() = default;

const BasisInfo& Solver::basis() const { return parts_->solver.levels().links().basis(); }
const DomainPointer& Solver::domain() const { return parts_->solver.levels().domain(); }
const DiracOperator& Solver::dirac() const { return parts_->solver.levels().exact(); }
const LinkDeviation& Solver::link_deviation() const { return parts_->solver.levels().deviation(); }

double Solver::host_share() const {
  const SystemSolver& s = parts_->solver.system();
  return s.seconds() > 0 ? s.host_seconds() / s.seconds() : 0;
}

bool Solver::one_by_one() const { return parts_->settings().method->one_by_one; }

void Solver::forget() const { parts_->solver.system().forget(); }

void Solver::limit(double tolerance, int max_iterations) const {
  SolverOptions options = parts_->settings().options;
  options.tolerance = tolerance;
  options.max_iterations = max_iterations;
  check(options);
  parts_->solver.settings().options = options;
}

void Solver::prepare(int rhs) const { parts_->solver.prepare(rhs); }

int Solver::together() const { return parts_->settings().method->together; }

bool Solver::shares() const { return parts_->settings().method->cycle_fields > 0; }

std::optional<SpinorField> Solver::near_null_vectors() const {
  if (parts_->solver.system().multigrid() == nullptr) return {};
  return parts_->solver.system().multigrid()->vectors();
}

Multigrid* Solver::multigrid() const { return parts_->solver.system().multigrid(); }

std::size_t Solver::bytes_per_rhs() const {
  const OperatorLevels& levels = parts_->solver.levels();
  const SolveSettings& settings = parts_->settings();
  const Action& action = levels.action();
  const int colours = dirac().matrix().components().colours;
  // Bytes of a vector on half the sites.
  const auto half_field_bytes = [&](const PrecisionInfo& stored) {
    const int site = action.spins() * stored.spin_words * colours / 3 * stored.word_bytes + (stored.norm ? 4 : 0);
    return static_cast<std::size_t>(levels.domain()->lattice().half_sites()) * site * action.slices();
  };
  const bool reduced = settings.even_odd_form != EvenOddForm::none;
  const auto& [outer, inner, preconditioner] = levels.precision;
  const std::size_t high = half_field_bytes(*outer), low = half_field_bytes(*inner),
                    lowest = half_field_bytes(*preconditioner);
  const FieldCount fields = fields_of(settings.method, settings.parameters);
  const int work = reduced ? dirac().work_fields() : 0, sites = reduced ? 1 : 2;
  std::size_t bytes = ((fields.recurrence - 1) * sites + work) * low + sites * half_field_bytes(computed_in(*inner)) +
                      (KrylovBatch::outer_fields * sites + work + (reduced ? 2 : 0)) * high;
  if (fields.preconditioner > 0) {
    const PrecisionInfo* full = &find_precision("double");
    const bool between = preconditioner != inner && preconditioner != full && inner != full;
    bytes += (fields.preconditioner * sites + (preconditioner != inner ? work : 0)) * lowest;
    if (between) bytes += sites * half_field_bytes(*full);
  }
  if (outer->name != "double") bytes += 4 * high;
  return bytes + 2 * settings.method->cycle_fields * half_field_bytes(find_precision("single"));
}

double Solver::residual(const SpinorField& x, const SpinorField& b) const {
  SpinorField gx = x.like(), gb = b.like();
  parts_->gauge.rotate(gx, x, Dagger::no);
  parts_->gauge.rotate(gb, b, Dagger::no);
  double total = 0;
  for (const double r : parts_->solver.levels().defects(gx, gb)) total += r * r;
  return std::sqrt(total / parts_->solver.levels().blas().norm2(b));
}

SolveReport Solver::solve(SpinorField& x, const SpinorField& b) const {
  if (b.rhs() != 1)
    throw UsageError(fmt::format("solve is for one right-hand side, the fields have {}; use solve_all", b.rhs()));
  return solve_all(x, b).front();
}

std::vector<SolveReport> Solver::solve_all(SpinorField& x, const SpinorField& b) const {
  if (x.rhs() != b.rhs()) throw UsageError(fmt::format("{} right-hand sides and {} solutions", b.rhs(), x.rhs()));
  if (!parts_->gauge.transformation) return parts_->by_slice.solve(x, b);
  SpinorField gb = b.like(), gx = b.like();
  parts_->gauge.rotate(gb, b, Dagger::no);
  if (parts_->settings().from_guess) parts_->gauge.rotate(gx, x, Dagger::no);
  std::vector<SolveReport> reports = parts_->by_slice.solve(gx, gb);
  parts_->gauge.rotate(x, gx, Dagger::yes);
  return reports;
}

std::vector<SolveReport> Solver::solve_sources(SpinorField& quark, const SpinorField& source,
                                               const std::function<void(const SpinorField& x)>& seen) const {
  if (!dirac().embeds()) return solve_all(quark, source);
  if (parts_->settings().from_guess)
    throw UsageError(
        fmt::format("a first guess in four dimensions says nothing of the vectors of action {}; leave it out",
                    parts_->solver.levels().action().name()));
  const WorkingGauge& gauge = parts_->gauge;
  SpinorField own = source.like(), b = field(source.rhs()), x = b.like();
  gauge.rotate(own, source, Dagger::no);
  dirac().embed(b, own);
  std::vector<SolveReport> reports = parts_->by_slice.solve(x, b);
  if (seen && gauge.transformation) {
    SpinorField given = x.like();
    gauge.rotate(given, x, Dagger::yes);
    seen(given);
  } else if (seen) {
    seen(x);
  }
  dirac().project(own, x);
  gauge.rotate(quark, own, Dagger::yes);
  return reports;
}

}  // namespace quarksmith
