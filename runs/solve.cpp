#include "runs/solve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <array>
#include <limits>
#include <ranges>
#include <regex>

#include "runs/action.hpp"
#include "runs/multigrid_file.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {

std::string member_of(const MethodNumber& number) {
  std::string name(number.option.substr(2));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::string> SolveDescription::solvers() const {
  return {solver.empty() ? default_solver(action->info()) : solver};
}

std::string SolveDescription::unless_used(const std::vector<std::string>& methods) const {
  std::vector<std::string> used = solvers();
  const std::string chosen = fmt::format("{}", fmt::join(used, ","));
  const std::size_t begin = preconditioner.starts_with("schwarz-") ? 8 : 0;
  used.push_back(preconditioner.substr(begin, preconditioner.find(':') - begin));  // its steps have such numbers too
  const auto is_used = [&](const std::string& m) { return std::find(used.begin(), used.end(), m) != used.end(); };
  if (std::any_of(methods.begin(), methods.end(), is_used)) return "";
  return fmt::format("belongs to {} {}, not to {}; add {}, or leave it out", called("solver"), fmt::join(methods, ", "),
                     chosen, called("solver", methods[0]));
}

void SolveDescription::list_method(Members::Adder add) {
  const auto by_cg = action_names([](const ActionInfo& a) { return default_solver(a) == "cg"; });
  add("solver", solver,
      fmt::format("{} (default: auto, which is bicgstab, and cg where that fails; cg for {})", one_of(method_names()),
                  fmt::join(by_cg, ", ")))
      .offers(method_names())
      .parsed(method_of);
  add("precision", precision,
      "of a solve: double, single, or mixed: double-half, double-single, single-half, double-bits20, ...; auto: "
      "double-half or double-single, by what is built and what half has met")
      .offers(std::array{"auto", "double-single", "double-half"})
      .offers(quarksmith::precisions() | std::views::transform(&PrecisionInfo::name))
      .parsed([](const std::string& name) { precisions_of(name, 3); });
  add("slice_tol", slice_tolerance,
      "|b - M x| / |x| on each time slice, 1e-6 for heavy quarks far from their source; 0: no such criterion")
      .range(0, std::nextafter(1.0, 0.0))
      .recent();
}

void SolveDescription::list(Members& members) {
  auto add = members.of(*this);
  const auto of_methods = [&](Member& m, const std::vector<std::string>& methods) {
    m.only(fmt::format("solver {}", fmt::join(methods, ", ")), [this, methods] { return unless_used(methods); });
  };
  const auto of_mixed = [&](Member& m) {
    m.only("mixed precision", [this]() -> std::string {
      const auto is_mixed = [](const std::string& p) { return precisions_of(p, 3).mixed(); };
      const std::vector<std::string> all = precisions();
      if (std::any_of(all.begin(), all.end(), is_mixed)) return "";
      return fmt::format("belongs to mixed precision, as {}, not to {}; leave it out",
                         called("precision", "double-half"), fmt::join(all, ","));
    });
  };
  std::vector<std::string> cycles, preconditioned;
  for (const MethodKind* kind : listed<MethodKind>()) {
    if (kind->cycle_fields > 0) cycles.emplace_back(kind->names[0]);
    if (kind->preconditioned) preconditioned.emplace_back(kind->names[0]);
  }
  list_method(add);
  add("even_odd", even_odd, one_of(even_odd_form_names())).offers(even_odd_form_names()).parsed(even_odd_form_of);
  of_mixed(add("updates", updates,
               "of mixed precision: reliable, replacement (both replace the residual by the true one), defect "
               "(correction)")
               .offers(updates_names())
               .parsed(updates_of));
  of_mixed(add("delta", delta,
               "reduction of the residual between updates, or accuracy of a correction (default: by the precision)")
               .range(0, std::nextafter(1.0, 0.0))
               .open());
  add("reconstruct", reconstruct,
      "reals a link: 18, 12, 8, or in temporal gauge 18t, 12t (default: 12, 18 if not SU(3))")
      .open()
      .parsed([](const std::string& name) { find_storage("r" + name); });
  only_with(add("basis", basis, "gamma basis of the kernels; results are in degrand_rossi"), *action,
            [](const ActionInfo& a) { return a.spins == 4; })
      .offers(bases() | std::views::transform(&BasisInfo::name))
      .parsed(find_basis);
  add("tol", tolerance, "|b - M x| / |b|").within(0, 1);
  for (const MethodOption& o : method_options()) {
    const MethodNumber& n = *o.number;
    const std::string name = member_of(n);
    const std::string help = fmt::format("{}, {} to {}", n.help, n.lower, n.upper);
    Member& member = n.whole != nullptr ? add(name, parameters.*n.whole, help) : add(name, parameters.*n.real, help);
    of_methods(member.recent(), o.methods);
  }
  of_methods(add("preconditioner", preconditioner,
                 "of gcr: none, METHOD:STEPS, for example mr:4, or schwarz-METHOD:STEPS, each rank by itself; "
                 "precision double-single-half runs it in the third")
                 .parsed(preconditioner_of),
             preconditioned);
  of_methods(
      add("mg", multigrid, "of multigrid: FILE.toml with what is to be other than chosen (docs/howto-multigrid.md)")
          .path(),
      cycles);
  near_null.list(members, fmt::format("solver {}", fmt::join(cycles, ", ")),
                 [this, cycles] { return unless_used(cycles); });
  add("max_iterations", max_iterations, "a column").range(1, std::numeric_limits<double>::infinity());
}

void SolveDescription::check() {
  if (!multigrid.empty()) check_multigrid(multigrid);
  quarksmith::check(preconditioner_of(preconditioner) ? Method::gcr : Method::cg, parameters);
  const std::vector<std::string_view> known = method_names();
  for (const std::string& name : solvers())
    if (std::find(known.begin(), known.end(), name) != known.end()) quarksmith::check(method_of(name), parameters);
}

ChoiceNames SolveDescription::choice_names() const {
  return {"a larger " + called("max_iterations"), called("solver", "cg"), called("precision", "double"),
          "a larger " + called("tol"), called("slice_tol")};
}

void tell(const LinkDeviation& deviation, const SolveSettings& settings, Session& session) {
  if (const std::string text = text_of(deviation, settings.links); !text.empty()) session.info(text);
}

namespace {

/// Events of a batch that differ in numbers alone.
struct AlikeEvents {
  std::string key, what;
  std::vector<int> columns;
  int first, last, times = 0;  ///< iterations; how often
};

}  // namespace

void tell_events(std::span<const SolveReport> reports, const std::function<std::string(int)>& title, Session& session) {
  static const std::regex number("[0-9]+(\\.[0-9]+)?(e[+-]?[0-9]+)?");
  std::vector<AlikeEvents> kinds;
  for (int n = 0; n < static_cast<int>(reports.size()); ++n)
    for (const SolverEvent& e : reports[n].events) {
      const std::string key = std::regex_replace(e.what, number, "#");
      auto found = std::find_if(kinds.begin(), kinds.end(), [&](const AlikeEvents& k) { return k.key == key; });
      if (found == kinds.end()) found = kinds.insert(found, {key, e.what, {}, e.iteration, e.iteration});
      AlikeEvents& kind = *found;
      if (kind.columns.empty() || kind.columns.back() != n) kind.columns.push_back(n);
      kind.first = std::min(kind.first, e.iteration);
      kind.last = std::max(kind.last, e.iteration);
      ++kind.times;
    }
  for (const AlikeEvents& k : kinds) {
    if (!session.is_first(k.key)) continue;  // reports have all of them
    std::string line = title(k.columns[0]);
    if (k.columns.size() > 1) line += fmt::format(" and {} more", k.columns.size() - 1);
    line += k.first == k.last ? fmt::format(", iteration {}", k.first)
                              : fmt::format(", iterations {} to {}", k.first, k.last);
    if (k.times > static_cast<int>(k.columns.size())) line += fmt::format(", {} times", k.times);
    session.warn(fmt::format("{}: {}", line, k.what));
  }
}

namespace {

/// Below 0: kappa above 1/8 of hops of Wilson's form. The critical mass of other links than free ones is not known.
bool is_below_zero(const Action& action) {
  return action.info().hopping == "wilson" && action.info().chain.empty() && action.values().has("mass") &&
         action.values()["mass"] < 0;
}

}  // namespace

std::string failure_text(const SolveReport& report, const SolveSettings& settings, const Action& action,
                         const ChoiceNames& names) {
  if (report.residual <= settings.options.tolerance && report.slice_residual > settings.slice_tolerance)
    return fmt::format(
        "not converged: |b - M x| is {:.2e} |x| on a time slice after {} iterations, {:.1e} asked for, and corrections "
        "no longer make it smaller; use a larger {}",
        report.slice_residual, report.iterations, settings.slice_tolerance, names.slice_tolerance);
  std::string text =
      fmt::format("not converged: residual {:.2e} after {} iterations, {:.1e} asked for; {}", report.residual,
                  report.iterations, settings.options.tolerance, remedy_of(settings, report, names));
  if (is_below_zero(action))
    text += fmt::format(
        "; mass {:.6g} is below 0, the critical one of free quarks: beyond that of these links M may "
        "have eigenvalues at 0",
        action.values()["mass"]);
  return text;
}

void warn_beyond_critical(const std::string& quark, const Action& action, double plaquette, Session& session) {
  if (is_below_zero(action) && plaquette > 1 - 1e-12)
    session.warn_once(quark, fmt::format("mass {:.6g} is beyond the critical one, which is 0 on these links, of free "
                                         "quarks; use a positive one",
                                         action.values()["mass"]));
}

int warn_of_far_slices(const std::string& propagator, const Propagator& s, double residual, const SolveDescription& how,
                       Session& session) {
  const std::vector<double> norms = slice_norms(s);
  const int farthest = static_cast<int>(norms.size()) / 2;
  // With a criterion by time slice, what is missed on those on the way adds up.
  if (how.slice_tolerance > 0 && how.slice_tolerance * farthest <= quark_accuracy) return farthest;
  const int known = known_slices(norms, residual);
  if (known < farthest)
    session.warn_once(propagator,
                      fmt::format("farther than {} time slices from its source it is as small as its error may be "
                                  "(residual {:.1e}), and correlators are off by 1 % or more; use {}",
                                  known, residual, how.called("slice_tol", "1e-6")));
  return known;
}

std::optional<Saving> saving_of(std::span<const SolveReport> reports) {
  if (reports.size() < 2 || reports.back().vectors == 0) return {};
  const SolveReport &first = reports.front(), &last = reports.back();
  return Saving{name_of(last.method), first.iterations, last.iterations, last.vectors,
                static_cast<int>(reports.size())};
}

std::string saving_text(const Saving& s) {
  return fmt::format(
      "{}: {} iterations for the first of {} right-hand sides, {} for the last, which began with {} vectors", s.solver,
      s.first, s.sources, s.last, s.vectors);
}

int columns_at_once(const Solver& solver, const Action& action, int most, Session& session) {
  const DomainPointer& domain = solver.domain();
  Device& device = domain->device();
  if (solver.one_by_one()) return 1;
  if (!device.asynchronous()) return std::min(solver.together(), most);
  if (solver.shares()) solver.prepare(1);  // what all right-hand sides share takes its memory first
  const SpinorField one(domain, find_precision("double"), Subset::full, 1, action.spins());
  // Source and quark field, and with a fifth dimension the vectors of both and one to project.
  const int slices = action.slices(), fields = slices > 1 ? 4 + 3 * slices : 2;
  const std::size_t each = solver.bytes_per_rhs() + fields * one.bytes_per_rhs();
  const std::size_t margin = device.free_memory() / 10;
  const auto fitting =
      static_cast<int>(-session.ranks().largest(-std::floor(double(device.free_memory() - margin) / each)));
  int width = std::clamp(fitting, 1, most);
  if (width >= 4) width -= width % 4;  // whole tiles of right-hand sides
  session.info(fmt::format("{} columns at a time", width));
  return width;
}

SolveSettings SolveDescription::settings(const GaugeLinks& gauge, const Action& chosen, Session& session) const {
  SolveSettings s;
  s.method = method_of(solver.empty() ? default_solver(chosen.info()) : solver);
  s.precision = precision;
  s.even_odd_form = even_odd_form_of(even_odd);
  s.on_all_sites = called("even_odd", "none");
  if (!chosen.has_even_odd()) {
    if (given("even_odd") && s.even_odd_form != EvenOddForm::none)
      throw UsageError(fmt::format("{} {}: action {} has no even-odd form with these parameters; leave it out",
                                   called("even_odd"), even_odd, chosen.name()));
    s.even_odd_form = EvenOddForm::none;
  }
  s.links = "r" + reconstruct;
  s.basis = basis;
  s.options.tolerance = tolerance;
  s.slice_tolerance = slice_tolerance;
  s.options.max_iterations = max_iterations;
  s.options.updates = updates_of(updates);
  s.options.delta = delta;
  s.parameters = parameters;
  s.parameters.preconditioner = preconditioner_of(preconditioner);
  if (!multigrid.empty()) {
    session.reading("mg", multigrid);
    s.multigrid = read_multigrid(multigrid, gauge.lattice(), chosen.slices());
  }
  s.tell = [&session](const std::string& line) { session.info(line); };
  if (!given("reconstruct")) {
    const std::string of_gauge(default_links(gauge, session.ranks()));
    s.links = chosen.default_links(of_gauge);
    if (of_gauge == "r18") session.info("the links are not SU(3): stored with 18 reals");
  }
  return s;
}

}  // namespace quarksmith::runs
