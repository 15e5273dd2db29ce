// quarksmith correlators: what a propagator in a file gives, without solving again.
#include <fmt/format.h>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/contraction.hpp"
#include "runtime/error.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::runs {
namespace {

struct CorrelatorsDescription : Description {
  std::filesystem::path file, correlators;
  std::string sink = "point", gauge;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("file", file, "propagator (HDF5), finished or FILE.part with all columns").required().positional();
    add("sink", sink, fmt::format("{}; all but point need --gauge", sink_forms()));
    add("gauge", gauge, "the configuration of the propagator, for smeared sinks");
    add("correlators", correlators, "correlators: JSON, or CSV if the name ends in .csv");
  }
};

/// Links for the sink: those of the propagator.
std::shared_ptr<const LinkField> sink_links(CorrelatorsDescription& o, const PropagatorReader& file,
                                            const DomainPointer& domain, Session& session) {
  if (o.gauge.empty())
    throw UsageError(
        fmt::format("--sink {} smears with links: give the configuration of {} by --gauge", o.sink, o.file.string()));
  const NamedGauge named =
      open_gauge(o.gauge, is_generated(o.gauge) ? "" : fmt::format("{}", fmt::join(file.extent(), ",")), session);
  const std::string found = gauge_digest(named.gauge, session), &stated = file.value<std::string>("gauge_digest");
  if (found != stated)
    throw UsageError(fmt::format("--gauge {}: other links (digest {}) than those of {} ({}, {})", o.gauge, found,
                                 o.file.string(), stated, file.value<std::string>("gauge")));
  return std::make_shared<LinkField>(
      upload(named.gauge, domain, find_precision("double"), find_storage(file.value<std::string>("links"))));
}

/// The masses of staggered quarks; of Dirac quarks none.
std::vector<double> masses_of(CorrelatorsDescription& o, const PropagatorReader& file) {
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

PropagatorResult contracted(CorrelatorsDescription& o, const PropagatorReader& file, const Lattice& lattice,
                            Session& session) {
  const QuarkSmearing sink = sink_of(o.sink);
  const DomainPointer domain = session.open_domain(lattice);
  Columns columns(domain, masses_of(o, file));
  const std::shared_ptr<const LinkField> links = sink ? sink_links(o, file, domain, session) : nullptr;
  HostSpinor column(lattice);
  for (int n = 0; n < file.form().columns(); ++n) {
    read_sound(file, o.file, n, column);
    const ColumnReport report = file.report(n / 3, n % 3);
    columns.solve(n, report);
    columns.note(n, column, report, session.ranks());
    columns.take(n, column);
    columns.smear(n, sink, links);
  }
  return columns.result(contraction_of(file, lattice, file.form().staggered ? "" : o.sink));
}

PropagatorResult run(CorrelatorsDescription& o, Session& session) {
  if (o.correlators.empty() && !session.reports_wanted())
    throw UsageError(fmt::format("correlators needs {} FILE.json or FILE.csv, or {} FILE", o.called("correlators"),
                                 session.called("json")));
  if (o.sink == "point") o.refuse_given({"gauge"}, "belongs to a smeared " + o.called("sink") + "; leave it out");
  session.claim({{"correlators", o.correlators}}, {{"PROPAGATOR", o.file}, {"gauge", o.gauge}});
  const PropagatorReader file(o.file, session.ranks());
  for (int n = 0; n < file.form().columns(); ++n)
    if (!file.has(n / 3, n % 3))
      throw UsageError(
          fmt::format("{}: column {} {} is not there; finish it with the `quarksmith propagator` command "
                      "that began it",
                      o.file.string(), n / 3, n % 3));
  const Lattice lattice = session.partition().local_lattice(file.extent());
  PropagatorResult result = contracted(o, file, lattice, session);
  write_correlators(o.correlators, result, session);
  report(session, json_of(result));
  return result;
}

}  // namespace

namespace commands {
extern constinit const Command correlators = {
    .name = "correlators",
    .help = "Correlators of a propagator that `quarksmith propagator` wrote",
    .place = 110,
    .uses = Session::reads | Session::computes | Session::shares | Session::reports | Session::replaces,
    .make = task<CorrelatorsDescription>};
}

}  // namespace quarksmith::runs
