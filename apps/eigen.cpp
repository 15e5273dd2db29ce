// quarksmith eigen: eigenvalues and eigenvectors of the operators of an action.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "apps/eigen_options.hpp"
#include "apps/interrupt.hpp"
#include "apps/option_rules.hpp"
#include "runtime/error.hpp"
#include "solvers/eigen/eigen_file.hpp"

namespace quarksmith::apps {
namespace {

struct EigenCommand {
  CommonOptions common;
  ActionOptions action;
  std::string kind = "normal", even_odd = "symmetric";
  EigenOptions options;
  std::filesystem::path out;
  std::string time_limit;
};

nlohmann::ordered_json eigen_report(const EigenCommand& o, const ActionChoice& choice, const Eigenpairs& pairs,
                                    const std::string& even_odd, double seconds) {
  nlohmann::ordered_json j = {{"operator", o.kind},           {"action", apps::texts_of(choice.provenance)},
                              {"even_odd", even_odd},         {"eigenvalues", pairs.values},
                              {"residuals", pairs.residuals}, {"applications", pairs.applications},
                              {"seconds", seconds},           {"tolerance", o.options.tolerance},
                              {"converged", pairs.converged}};
  return j;
}

void write_vectors(const EigenCommand& o, const ActionChoice& choice, const NamedGauge& named, const Eigenpairs& pairs,
                   const std::string& even_odd, const BasisInfo& basis) {
  PropagatorHeader header(eigen_provenance(choice, named.gauge, o.kind, even_odd, o.common));
  header.remarks = {{"gauge", named.origin},
                    {"program_version", QUARKSMITH_VERSION},
                    {"tolerance", o.options.tolerance},
                    {"basis", "degrand_rossi"}};
  write_eigenpairs(o.out, pairs, basis, header, o.common.overwrite, o.common.ranks());
  o.common.info(fmt::format("wrote {}", o.out.string()));
}

/// What there is where not all that was asked for was found. \throws Error, Interrupted
[[noreturn]] void fall_short(const EigenCommand& o, const Eigenpairs& pairs, const Stops& stops) {
  const auto good =
      std::count_if(pairs.residuals.begin(), pairs.residuals.end(), [&](double r) { return r <= o.options.tolerance; });
  std::string kept = "there are no vectors yet";
  if (!pairs.values.empty())
    kept = o.out.empty() ? "vectors are not kept: that takes --out FILE.h5"
                         : fmt::format("the {} best vectors are in {}", pairs.values.size(), o.out.string());
  const std::string found = fmt::format("{} of {} eigenvalues of {} to {:.1e}, residual {:.2e} at most; {}", good,
                                        o.options.count, o.kind, o.options.tolerance, pairs.worst(), kept);
  say_at_end(found);
  stops.end();
  if (!pairs.ended) throw Error(fmt::format("{}; use a larger --tol", found));
  if (!o.time_limit.empty() && pairs.applications != o.options.most_applications)
    throw Error(fmt::format("--time-limit {}: {}; give more time", o.time_limit, found));
  throw Error(fmt::format("--max-applications {}: {}; give more", o.options.most_applications, found));
}

int run(EigenCommand& o, const CLI::App& command, Stops& stops) {
  const NamedGauge named = open_gauge(o.action.gauge, o.action.lattice, o.common);
  const ActionChoice choice = o.action.choose(command, named.gauge, o.common);
  const Action& action = choice.action;
  const DomainPointer domain = o.common.open_domain(named.gauge.lattice, action.reach());
  const Spectrum kind = spectrum_of(o.kind);
  SolveSettings settings;
  settings.method = Method::cg;
  settings.links = action.default_links(default_links(named.gauge, o.common.ranks()));
  settings.reduction = kind == Spectrum::normal ? reduction_of(o.even_odd) : Reduction::none;
  if (!action.has_even_odd()) {
    if (command.count("--even-odd") > 0 && settings.reduction != Reduction::none)
      throw UsageError(fmt::format("--even-odd {}: action {} has no even-odd form with these parameters; leave it out",
                                   o.even_odd, action.name()));
    settings.reduction = Reduction::none;
  }
  const std::string even_odd = settings.reduction == Reduction::none ? "none" : o.even_odd;
  const Solver solver(action, named.gauge, domain, settings);
  Progress progress("eigen", o.options.count, o.common);
  o.options.observer = [&](int found, double residual) {
    progress.show(found, fmt::format("{} found, residual {:.1e}", found, residual));
  };
  o.options.look = [&] {
    if (stops.ended()) throw EndSearch{};
  };
  const double start = now();
  const Eigenpairs pairs =
      EigenOperator(kind, action, solver.dirac(), solver.basis(), settings.reduction, o.options.block).find(o.options);
  const double seconds = now() - start;
  o.common.write_json(eigen_report(o, choice, pairs, even_odd, seconds));
  if (!o.out.empty() && !pairs.values.empty()) write_vectors(o, choice, named, pairs, even_odd, solver.basis());
  for (std::size_t n = 0; n < pairs.values.size(); ++n)
    if (domain->communicator().rank() == 0)
      fmt::print("{:>5} {:>22.15g} {:>9.1e}\n", n, pairs.values[n], pairs.residuals[n]);
  if (domain->communicator().rank() == 0)
    fmt::print("{} eigenvalues, {} applications, {:.2f} s on {}\n", pairs.values.size(), pairs.applications, seconds,
               domain->device().name());
  if (!pairs.converged) fall_short(o, pairs, stops);
  return 0;
}

/// Everything that can be said of the options before a file is read.
void check(const EigenCommand& o, const CLI::App& command) {
  if (o.out.empty() && !o.common.reports_wanted()) throw UsageError("eigen needs --out FILE.h5, --json FILE, or both");
  check_options(command, {listed_name(o.action.info(command)), {}, {"double"}});
  o.action.check(command);
  spectrum_of(o.kind);
  reduction_of(o.even_odd);
  if (o.kind != "normal") refuse_options(command, {"--even-odd"}, "belongs to --operator normal; leave it out");
  if (!(o.options.tolerance > 0 && o.options.tolerance < 1))
    throw UsageError(fmt::format("--tol: tolerance {}; use a positive number below 1", o.options.tolerance));
  o.common.claim({{"--out", o.out, true}}, {{"--gauge", o.action.gauge}});
  const std::filesystem::path part = o.out.string() + ".part";
  if (!o.out.empty() && !o.common.overwrite && std::filesystem::exists(part))
    throw UsageError(fmt::format("{}: left by a run that ended early; delete it, or use --overwrite", part.string()));
}

}  // namespace

void add_eigen(CLI::App& app, int& status) {
  auto o = std::make_shared<EigenCommand>();
  CLI::App* c = app.add_subcommand("eigen", "Eigenvalues and eigenvectors of an action's operators");
  o->action.add_to(*c);
  c->add_option("--operator", o->kind,
                "normal: M^+ M, even-odd or not; hermitian: gamma_5 M; staggered: -D^2 on even sites, M = m + D")
      ->capture_default_str();
  c->add_option("--even-odd", o->even_odd, "of --operator normal: symmetric, asymmetric or none")
      ->capture_default_str();
  c->add_option("--count", o->options.count, "how many pairs")->check(CLI::Range(1, 100000))->capture_default_str();
  c->add_flag("--largest", o->options.largest, "those of largest modulus, not of smallest");
  c->add_option("--tol", o->options.tolerance, "|A v - lambda v| at most, |v| = 1")->capture_default_str();
  c->add_option("--block", o->options.block, "vectors to which the operator is applied together; 1: one at a time")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  c->add_option("--seed", o->options.seed, "of the first vectors")->capture_default_str();
  c->add_option("--max-applications", o->options.most_applications,
                "of the positive operator to one vector; then the best pairs are kept, with an error (default: any)")
      ->check(CLI::Range(1LL, 1000000000000LL));
  c->add_option("--time-limit", o->time_limit, "the same when this time is over: SECONDS, MM:SS or HH:MM:SS");
  c->add_option("--out", o->out, "eigenvectors (HDF5)");
  o->common.add_to(*c, CommonOptions::computes | CommonOptions::shares | CommonOptions::crosses |
                           CommonOptions::reports | CommonOptions::replaces);
  c->callback([o, c, &status] {
    check(*o, *c);
    Stops stops(o->time_limit, solve_patience, o->common.ranks());
    status = run(*o, *c, stops);
  });
}

}  // namespace quarksmith::apps
