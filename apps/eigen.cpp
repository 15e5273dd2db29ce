// quarksmith eigen: eigenvalues and eigenvectors of the operators of an action.
#include <fmt/format.h>

#include <filesystem>

#include "apps/eigen_options.hpp"
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

int run(EigenCommand& o, const CLI::App& command) {
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
  const double start = now();
  const Eigenpairs pairs =
      EigenOperator(kind, action, solver.dirac(), solver.basis(), settings.reduction, o.options.block).find(o.options);
  const double seconds = now() - start;
  o.common.write_json(eigen_report(o, choice, pairs, even_odd, seconds));
  if (!pairs.converged)
    throw Error(fmt::format("{} eigenvalues of {}: residual {:.2e} at most, {:.1e} asked for; use a larger --tol",
                            o.options.count, o.kind, pairs.worst(), o.options.tolerance));
  if (!o.out.empty()) {
    PropagatorHeader header(eigen_provenance(choice, named.gauge, o.kind, even_odd, o.common));
    header.remarks = {{"gauge", named.origin},
                      {"program_version", QUARKSMITH_VERSION},
                      {"tolerance", o.options.tolerance},
                      {"basis", "degrand_rossi"}};
    write_eigenpairs(o.out, pairs, solver.basis(), header, o.common.overwrite, o.common.ranks());
    o.common.info(fmt::format("wrote {}", o.out.string()));
  }
  for (std::size_t n = 0; n < pairs.values.size(); ++n)
    if (domain->communicator().rank() == 0)
      fmt::print("{:>5} {:>22.15g} {:>9.1e}\n", n, pairs.values[n], pairs.residuals[n]);
  if (domain->communicator().rank() == 0)
    fmt::print("{} eigenvalues, {} applications, {:.2f} s on {}\n", pairs.values.size(), pairs.applications, seconds,
               domain->device().name());
  return 0;
}

/// Everything that can be said of the options before a file is read.
void check(const EigenCommand& o, const CLI::App& command) {
  if (o.out.empty() && o.common.json.empty()) throw UsageError("eigen needs --out FILE.h5, --json FILE, or both");
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
  c->add_option("--out", o->out, "eigenvectors (HDF5)");
  o->common.add_to(*c, CommonOptions::computes | CommonOptions::shares | CommonOptions::crosses |
                           CommonOptions::reports | CommonOptions::replaces);
  c->callback([o, c, &status] {
    check(*o, *c);
    status = run(*o, *c);
  });
}

}  // namespace quarksmith::apps
