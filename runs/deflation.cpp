#include "runs/deflation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include "runs/contraction.hpp"
#include "runtime/error.hpp"
#include "runtime/text.hpp"
#include "solvers/eigen/deflation.hpp"
#include "solvers/eigen/eigen_file.hpp"
#include "solvers/multigrid/near_null_file.hpp"

namespace quarksmith::runs {
namespace {

constexpr double deflation_tolerance = 1e-9;

bool is_count(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// The number that a parameter has, if it is one.
std::optional<double> number_of(const ProvenanceValue& value) {
  if (const double* x = std::get_if<double>(&value)) return *x;
  const auto* all = std::get_if<std::vector<double>>(&value);
  return all != nullptr && all->size() == 1 ? std::optional((*all)[0]) : std::nullopt;
}

/// Attributes that must agree. \param may_differ one whose other value shifts no more than eigenvalues.
void require_same(const PropagatorReader& file, const std::string& subject, const Provenance& wanted,
                  const std::function<bool(const std::string& key, const ProvenanceValue& there)>& may_differ) {
  for (const auto& [key, value] : wanted_of(wanted, file.provenance())) {
    const auto found = file.provenance().find(key);
    if (found != file.provenance().end() && (found->second == value || may_differ(key, found->second))) continue;
    const std::string stated =
        found == file.provenance().end() ? "not stated" : "'" + quarksmith::text_of(found->second) + "'";
    throw UsageError(
        fmt::format("{}: eigenvectors of another operator ({} is {}, here '{}'); make those of "
                    "this one with `quarksmith eigen`",
                    subject, key, stated, quarksmith::text_of(value)));
  }
}

/// The operator whose vectors serve these solves.
Spectrum kind_for(const Action& action, const SolveSettings& settings) {
  return action.is_squared() && settings.even_odd_form != EvenOddForm::none ? Spectrum::staggered : Spectrum::normal;
}

std::shared_ptr<const Deflation> computed(const std::string& subject, int count, const Action& action,
                                          const Solver& solver, const SolveSettings& settings, Session& session,
                                          const std::function<void()>& look) {
  const Spectrum kind = kind_for(action, settings);
  EigenOptions options{.count = count, .tolerance = deflation_tolerance};
  options.look = look;
  Progress progress("eigenvectors", count, session);
  options.observer = [&](int found, double residual) {
    progress.show(found, fmt::format("{} found, residual {:.1e}", found, residual));
  };
  const double start = now();
  Eigenpairs pairs =
      EigenOperator(kind, action, solver.dirac(), solver.basis(), settings.even_odd_form, options.block).find(options);
  if (!pairs.converged)
    throw Error(fmt::format("{}: eigenvectors to {:.1e} alone, {:.1e} asked for; use fewer", subject, pairs.worst(),
                            options.tolerance));
  session.info(
      fmt::format("{} eigenvectors in {}, {} applications", count, duration_text(now() - start), pairs.applications));
  return std::make_shared<Deflation>(kind, pairs.values, std::move(pairs.vectors), action, settings.even_odd_form);
}

}  // namespace

Provenance eigen_provenance(const ActionChoice& choice, const HostGauge& gauge, const std::string& operator_name,
                            const std::string& even_odd, Session& session) {
  Provenance all = choice.provenance;
  all["gauge_digest"] = gauge_digest(gauge, session);
  all["operator"] = operator_name;
  all["even_odd"] = even_odd;
  return all;
}

void DeflationDescription::list(Members& members) {
  auto add = members.of(*this);
  add(member, text,
      "first guesses from eigenvectors: FILE of `quarksmith eigen`, or how many to compute (solver auto is cg then)")
      .type("FILE|N");
}

void DeflationDescription::check() {
  if (!is_given() || (is_count(text) && !std::filesystem::exists(text))) {
    if (is_given() && (text.size() > 6 || std::stoi(text) < 1))
      throw UsageError(fmt::format("{}: use 1 to 999999 eigenvectors", subject()));
    return;
  }
  if (!std::filesystem::exists(text))
    throw UsageError(fmt::format(
        "{}: there is no such file; name one of `quarksmith eigen --out`, or a number of eigenvectors", subject()));
}

std::shared_ptr<const Deflation> DeflationDescription::make(const ActionChoice& choice, const GaugeLinks& gauge,
                                                            const DomainPointer& domain, const SolveSettings& settings,
                                                            const std::string& even_odd, Session& session,
                                                            const std::function<void()>& look) const {
  const Action& action = choice.action;
  SolveSettings plain = settings;
  plain.precision = "double";
  plain.parameters = {};
  plain.method = Method::cg;
  const Solver solver(action, gauge, domain, plain);
  if (is_count(text) && !std::filesystem::exists(text))
    return computed(subject(), std::stoi(text), action, solver, settings, session, look);
  if (!is_hdf5(text)) throw UsageError(fmt::format("{}: is no file of `quarksmith eigen`", subject()));
  session.reading(member, text);
  const PropagatorReader file(text, session.ranks(), true);
  const std::string name = file.value<std::string>("operator");
  if (name == near_null_operator)
    throw UsageError(
        fmt::format("{}: holds near-null vectors of multigrid; name a file of `quarksmith eigen`", subject()));
  const Spectrum kind = spectrum_of(name);
  if (file.extent() != gauge.lattice().global_extent())
    throw UsageError(fmt::format("{}: eigenvectors on another lattice", subject()));
  const bool reduced = settings.even_odd_form != EvenOddForm::none;
  const std::string form = kind != Spectrum::normal ? "none" : reduced ? even_odd : "none";
  if (kind == Spectrum::hermitian && reduced)
    throw UsageError(
        fmt::format("{}: eigenvectors of gamma_5 M serve solves on all sites; use even-odd none, or make those of "
                    "operator normal",
                    subject()));
  double shift = 0;
  ActionValues present = action.values();  // becomes that of the file, one parameter after the other
  const auto may_differ = [&](const std::string& key, const ProvenanceValue& there) {
    const std::optional<double> value = number_of(there);
    if (!value || !action.values().has(key)) return false;
    const auto is_mass = [&](const ActionParameter& p) { return p.several && p.name == key; };
    const auto& all = action.info().parameters;
    if (kind == Spectrum::staggered) return std::any_of(all.begin(), all.end(), is_mass);
    const Solver here(Action(present, action.setting()), gauge, domain, plain);
    present = present.with(key, *value);
    const Solver further(Action(present, action.setting()), gauge, domain, plain);
    const auto normal = [&](const Solver& s) {
      return EigenOperator(Spectrum::normal, action, s.dirac(), s.basis(), settings.even_odd_form, 1);
    };
    const EigenOperator a = normal(here), b = normal(further);
    const std::optional<double> found = shift_between(a.positive(), b.positive(), solver.basis());
    shift += found.value_or(0);
    return found.has_value();
  };
  require_same(file, subject(), eigen_provenance(choice, gauge, name, form, session), may_differ);
  if (shift != 0)
    session.info(fmt::format("{}: eigenvalues of M^+ M shifted by {:.6g} to these parameters", subject(), shift));
  const SystemOperator system(solver.dirac(), settings.even_odd_form, 1);
  return std::make_shared<Deflation>(kind, eigenvalues_of(file, text),
                                     read_eigenvectors(file, text, system.a(), solver.dirac().matrix(), solver.basis()),
                                     action, settings.even_odd_form, shift);
}

}  // namespace quarksmith::runs
