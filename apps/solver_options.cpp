#include "apps/solver_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "apps/action_options.hpp"
#include "apps/multigrid_file.hpp"
#include "runtime/error.hpp"

namespace quarksmith::apps {

void add_method(CLI::App& command, std::string& solver, std::string& precision) {
  const auto by_cg = action_names([](const ActionInfo& a) { return default_solver(a) == "cg"; });
  command.add_option("--solver", solver,
                     fmt::format("{} (default: auto, which is bicgstab, and cg where that fails; cg for {})",
                                 one_of(method_names()), fmt::join(by_cg, ", ")));
  command
      .add_option(
          "--precision", precision,
          "of a solve: double, single, or mixed: double-half, double-single, single-half, double-bits20, ...; auto: "
          "double-half or double-single, by what is built and what half has met")
      ->capture_default_str();
}

void SolverChoices::add_to(CLI::App& c) {
  c.add_option("--even-odd", even_odd, one_of(reduction_names()))->capture_default_str();
  c.add_option(
       "--updates", updates,
       "of mixed precision: reliable, replacement (both replace the residual by the true one), defect (correction)")
      ->capture_default_str();
  c.add_option("--delta", delta,
               "reduction of the residual between updates, or accuracy of a correction (default: by the precision)");
  c.add_option("--reconstruct", reconstruct,
               "reals a link: 18, 12, 8, or in temporal gauge 18t, 12t (default: 12, 18 if not SU(3))");
  c.add_option("--basis", basis, "gamma basis of the kernels; results are in degrand_rossi")->capture_default_str();
  c.add_option("--tol", tolerance, "|b - M x| / |b|")->capture_default_str();
  for (const MethodOption& o : method_options()) {
    const MethodNumber& n = *o.number;
    const std::string option(n.option), help = fmt::format("{}, {} to {}", n.help, n.lower, n.upper);
    if (n.whole != nullptr) c.add_option(option, parameters.*n.whole, help)->capture_default_str();
    if (n.real != nullptr) c.add_option(option, parameters.*n.real, help)->capture_default_str();
  }
  c.add_option("--preconditioner", preconditioner,
               "of gcr: none, METHOD:STEPS, for example mr:4, or schwarz-METHOD:STEPS, each rank by itself; "
               "--precision double-single-half runs it in the third")
      ->capture_default_str();
  c.add_option("--mg", multigrid,
               "of multigrid: FILE.toml with what is to be other than chosen (docs/howto-multigrid.md)");
  near_null.add_to(c);
  c.add_option("--max-iterations", max_iterations, "a column")->capture_default_str();
}

void SolverChoices::check(const std::vector<std::string>& solvers) const {
  reduction_of(even_odd);
  updates_of(updates);
  find_basis(basis);
  find_storage("r" + reconstruct);
  if (!(tolerance > 0 && tolerance < 1))
    throw UsageError(fmt::format("--tol: tolerance {}; use a positive number below 1", tolerance));
  if (max_iterations < 1) throw UsageError(fmt::format("{} iterations at most; use at least 1", max_iterations));
  if (!(delta >= 0 && delta < 1)) throw UsageError(fmt::format("--delta {}; use a number between 0 and 1", delta));
  if (!multigrid.empty()) check_multigrid(multigrid);
  near_null.check();
  quarksmith::check(preconditioner_of(preconditioner) ? Method::gcr : Method::cg, parameters);
  const std::vector<std::string_view> known = method_names();
  for (const std::string& name : solvers)
    if (std::find(known.begin(), known.end(), name) != known.end()) quarksmith::check(method_of(name), parameters);
}

void tell(const LinkDeviation& deviation, const SolveSettings& settings, const CommonOptions& common) {
  if (const std::string text = text_of(deviation, settings.links); !text.empty()) common.info(text);
}

namespace {

/// Events of a batch that differ in numbers alone.
struct AlikeEvents {
  std::string key, what;
  std::vector<int> columns;
  int first, last, times = 0;  ///< iterations; how often
};

}  // namespace

void tell_events(std::span<const SolveReport> reports, const std::function<std::string(int)>& title,
                 const CommonOptions& common) {
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
    std::string line = title(k.columns[0]);
    if (k.columns.size() > 1) line += fmt::format(" and {} more", k.columns.size() - 1);
    line += k.first == k.last ? fmt::format(", iteration {}", k.first)
                              : fmt::format(", iterations {} to {}", k.first, k.last);
    if (k.times > static_cast<int>(k.columns.size())) line += fmt::format(", {} times", k.times);
    common.warn(fmt::format("{}: {}", line, k.what));
  }
}

std::optional<Saving> saving_of(std::span<const SolveReport> reports) {
  if (reports.size() < 2 || reports.back().vectors == 0) return {};
  const SolveReport &first = reports.front(), &last = reports.back();
  return Saving{name_of(last.method), first.iterations, last.iterations, last.vectors,
                static_cast<int>(reports.size())};
}

std::string text_of(const Saving& s) {
  return fmt::format(
      "{}: {} iterations for the first of {} right-hand sides, {} for the last, which began with {} vectors", s.solver,
      s.first, s.sources, s.last, s.vectors);
}

nlohmann::ordered_json json_of(const Saving& s) {
  return {{"right_hand_sides", s.sources},
          {"first_iterations", s.first},
          {"last_iterations", s.last},
          {"vectors", s.vectors},
          {"saving", 1 - double(s.last) / std::max(s.first, 1)}};
}

int columns_at_once(const Solver& solver, const Action& action, int most, const CommonOptions& common) {
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
      static_cast<int>(-common.ranks().largest(-std::floor(double(device.free_memory() - margin) / each)));
  int width = std::clamp(fitting, 1, most);
  if (width >= 4) width -= width % 4;  // whole tiles of right-hand sides
  common.info(fmt::format("{} columns at a time", width));
  return width;
}

SolveSettings SolverChoices::settings(Stated stated, const HostGauge& gauge, const Action& action,
                                      const CommonOptions& common) const {
  SolveSettings s;
  s.reduction = reduction_of(even_odd);
  if (!action.has_even_odd()) {
    if (stated.even_odd && s.reduction != Reduction::none)
      throw UsageError(fmt::format("--even-odd {}: action {} has no even-odd form with these parameters; leave it out",
                                   even_odd, action.name()));
    s.reduction = Reduction::none;
  }
  s.links = "r" + reconstruct;
  s.basis = basis;
  s.options.tolerance = tolerance;
  s.options.max_iterations = max_iterations;
  s.options.updates = updates_of(updates);
  s.options.delta = delta;
  s.parameters = parameters;
  s.parameters.preconditioner = preconditioner_of(preconditioner);
  if (!multigrid.empty()) s.multigrid = read_multigrid(multigrid, gauge.lattice, action.slices());
  s.tell = [&common](const std::string& line) { common.info(line); };
  if (!stated.reconstruct) {
    const std::string of_gauge(default_links(gauge, common.ranks()));
    s.links = action.default_links(of_gauge);
    if (of_gauge == "r18") common.info("the links are not SU(3): stored with 18 reals");
  }
  return s;
}

}  // namespace quarksmith::apps
