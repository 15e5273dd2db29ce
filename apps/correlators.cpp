// quarksmith correlators: what a propagator in a file gives, without solving again.
#include <fmt/format.h>

#include "apps/contraction.hpp"
#include "apps/option_rules.hpp"
#include "runtime/error.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::apps {
namespace {

struct CorrelatorsOptions {
  CommonOptions common;
  std::filesystem::path file, correlators;
  std::string sink = "point", gauge;
};

/// Links for the sink: those of the propagator.
std::shared_ptr<const LinkField> sink_links(const CorrelatorsOptions& o, const PropagatorReader& file,
                                            const DomainPointer& domain) {
  if (o.gauge.empty())
    throw UsageError(
        fmt::format("--sink {} smears with links: give the configuration of {} by --gauge", o.sink, o.file.string()));
  const NamedGauge named =
      open_gauge(o.gauge, is_generated(o.gauge) ? "" : fmt::format("{}", fmt::join(file.extent(), ",")), o.common);
  const std::string found = gauge_digest(named.gauge, o.common), &stated = file.value<std::string>("gauge_digest");
  if (found != stated)
    throw UsageError(fmt::format("--gauge {}: other links (digest {}) than those of {} ({}, {})", o.gauge, found,
                                 o.file.string(), stated, file.value<std::string>("gauge")));
  return std::make_shared<LinkField>(
      upload(named.gauge, domain, find_precision("double"), find_storage(file.value<std::string>("links"))));
}

/// The masses of staggered quarks; of Dirac quarks none.
std::vector<double> masses_of(const CorrelatorsOptions& o, const PropagatorReader& file) {
  if (!file.form().staggered) return {};
  if (o.sink != "point")
    throw UsageError(
        fmt::format("--sink {}: {} holds staggered quarks, whose sinks are points", o.sink, o.file.string()));
  const auto& masses = file.value<std::vector<double>>("mass");
  if (static_cast<int>(masses.size()) != file.form().first)
    throw Error(fmt::format("{}: {} masses for {} columns: it is damaged", o.file.string(), masses.size(),
                            file.form().columns()));
  return masses;
}

nlohmann::ordered_json contracted(const CorrelatorsOptions& o, const PropagatorReader& file, const Lattice& lattice) {
  const QuarkSmearing sink = sink_of(o.sink);
  const DomainPointer domain = o.common.open_domain(lattice);
  Columns columns(domain, masses_of(o, file));
  const std::shared_ptr<const LinkField> links = sink ? sink_links(o, file, domain) : nullptr;
  HostSpinor column(lattice);
  for (int n = 0; n < file.form().columns(); ++n) {
    read_sound(file, o.file, n, column);
    const ColumnReport report = file.report(n / 3, n % 3);
    columns.solve(n, report);
    columns.note(n, column, report);
    columns.take(n, column);
    columns.smear(n, sink, links);
  }
  return columns.result(contraction_of(file, lattice, file.form().staggered ? "" : o.sink));
}

int run(const CorrelatorsOptions& o) {
  const PropagatorReader file(o.file, o.common.ranks());
  for (int n = 0; n < file.form().columns(); ++n)
    if (!file.has(n / 3, n % 3))
      throw UsageError(
          fmt::format("{}: column {} {} is not there; finish it with the `quarksmith propagator` command "
                      "that began it",
                      o.file.string(), n / 3, n % 3));
  const Lattice lattice = o.common.partition().part(file.extent());
  const nlohmann::ordered_json result = contracted(o, file, lattice);
  write_correlators(o.correlators, result, o.common);
  o.common.write_json(result);
  return 0;
}

}  // namespace

void add_correlators(CLI::App& app, int& status) {
  auto o = std::make_shared<CorrelatorsOptions>();
  CLI::App* c = app.add_subcommand("correlators", "Correlators of a propagator that `propagator --out` wrote");
  c->add_option("file", o->file, "propagator (HDF5), finished or FILE.part with all columns")->required();
  c->add_option("--sink", o->sink, fmt::format("{}; all but point need --gauge", sink_forms()))->capture_default_str();
  c->add_option("--gauge", o->gauge, "the configuration of the propagator, for smeared sinks");
  c->add_option("--correlators", o->correlators, "correlators: JSON, or CSV if the name ends in .csv");
  o->common.add_to(*c,
                   CommonOptions::computes | CommonOptions::shares | CommonOptions::reports | CommonOptions::replaces);
  c->callback([o, c, &status] {
    if (o->correlators.empty() && !o->common.reports_wanted())
      throw UsageError("correlators needs --correlators FILE.json or FILE.csv, or --json FILE");
    if (o->sink == "point") refuse_options(*c, {"--gauge"}, "belongs to a smeared --sink; leave it out");
    o->common.claim({{"--correlators", o->correlators}}, {{"PROPAGATOR", o->file}, {"--gauge", o->gauge}});
    status = run(*o);
  });
}

}  // namespace quarksmith::apps
