// quarksmith correlators: what a propagator in a file gives, without solving again, and those that `measure` has kept.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/contraction.hpp"
#include "runtime/error.hpp"
#include "runtime/io/record.hpp"
#include "runtime/text.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::runs {
namespace {

struct CorrelatorsDescription : Description {
  std::filesystem::path file, correlators;
  std::string sink = "point", gauge, only;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("file", file, "propagator, finished or FILE.part with all columns, or results of `measure` (HDF5)")
        .required()
        .positional();
    add("sink", sink, fmt::format("{}; all but point need --gauge", sink_forms()));
    add("gauge", gauge, "the configuration of the propagator, for smeared sinks");
    add("correlators", correlators, "correlators: JSON, or CSV if the name ends in .csv");
    add("only", only, "print the correlators of this name alone (default: all, unless they are written to files)");
  }
};

/// Numbers of a correlator at each time, one for each configuration.
using Samples = std::vector<std::vector<Complex64>>;

/// Mean and standard error of the mean over configurations; NaN of one.
std::pair<Complex64, Complex64> mean_of(const std::vector<Complex64>& samples) {
  const auto count = static_cast<double>(samples.size());
  Complex64 mean = 0;
  double re = 0, im = 0;
  for (const Complex64& z : samples) mean += z / count;
  for (const Complex64& z : samples) re += std::pow((z - mean).real(), 2), im += std::pow((z - mean).imag(), 2);
  const double norm = count * (count - 1);
  return {mean, {std::sqrt(re / norm), std::sqrt(im / norm)}};
}

void print_correlator(const std::string& title, const Samples& samples, Session& session) {
  print(session, "{}\n{:>5} {:>18} {:>11} {:>18} {:>11}\n", title, "t", "real", "error", "imaginary", "error");
  const auto text = [](double error) { return std::isnan(error) ? "-" : fmt::format("{:.2e}", error); };
  for (std::size_t t = 0; t < samples.size(); ++t) {
    const auto [mean, error] = mean_of(samples[t]);
    print(session, "{:>5} {:>18.10e} {:>11} {:>18.10e} {:>11}\n", t, mean.real(), text(error.real()), mean.imag(),
          text(error.imag()));
  }
}

/// \throws Refusal nothing of the name that is asked for was printed.
void require_printed(CorrelatorsDescription& o, const std::vector<std::string>& names, bool printed) {
  if (!printed)
    o.refuse(Refusal::Kind::word, "only",
             fmt::format("'{}' is not in {}; {}use {}", o.only, o.file.string(), suggestion(o.only, names),
                         fmt::join(names, ", ")));
}

void print_all(CorrelatorsDescription& o, const PropagatorResult& result, Session& session) {
  std::vector<std::string> names;
  bool printed = false;
  for (const Correlator& c : result.correlators) {
    names.push_back(c.name);
    if (!o.only.empty() && c.name != o.only) continue;
    Samples samples;
    std::visit(
        [&](const auto& values) {
          for (const auto& z : values) samples.push_back({Complex64(z)});
        },
        c.values);
    print_correlator(c.group.empty() ? c.name : c.group + " " + c.name, samples, session);
    printed = true;
  }
  require_printed(o, names, printed || result.correlators.empty());
}

/// Those of `measure`: over configurations, each the mean over positions, or noises, of its sources.
Outcome print_records(CorrelatorsDescription& o, Session& session) {
  o.refuse_given({"sink", "gauge", "correlators"}, "belongs to propagators; leave it out");
  session.refuse_given({"json"}, "belongs to propagators: `measure` writes those of its results; leave it out");
  const RecordReader all(o.file);
  std::map<std::string, std::map<std::string, Samples>> found;  // by name, momentum and structure
  for (const std::string& configuration : all.names())
    for (const RecordArray& a : all.read(configuration).arrays) {
      const auto structures = a.attributes.find("structures"), momenta = a.attributes.find("momenta");
      const auto* numbers = std::get_if<std::vector<Complex64>>(&a.numbers);
      if (structures == a.attributes.end() || momenta == a.attributes.end() || numbers == nullptr) continue;
      const std::vector<std::string> words = split(std::get<std::string>(structures->second), ' ');
      const auto& p = std::get<std::vector<long long>>(momenta->second);
      const std::size_t times = a.extent.back(), count = numbers->size() / times, each = p.size() / 3 * words.size();
      for (std::size_t n = 0; n < each; ++n) {
        const std::size_t m = 3 * (n / words.size());
        Samples& to = found[a.name][fmt::format("{},{},{} {}", p[m], p[m + 1], p[m + 2], words[n % words.size()])];
        to.resize(times);
        for (std::size_t t = 0; t < times; ++t) {
          Complex64 sum = 0;
          for (std::size_t at = n; at < count; at += each) sum += (*numbers)[at * times + t];
          to[t].push_back(sum / double(count / each));
        }
      }
    }
  std::vector<std::string> names;
  for (const auto& [name, parts] : found) {
    names.push_back(name);
    if (!o.only.empty() && name != o.only) continue;
    for (const auto& [what, samples] : parts)
      print_correlator(fmt::format("{} {}: {} configurations", name, what, samples[0].size()), samples, session);
  }
  require_printed(o, names, o.only.empty() || found.contains(o.only));
  return {};
}

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

/// The masses of staggered quarks in the file; empty for Dirac quarks.
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

Outcome run(CorrelatorsDescription& o, Session& session) {
  if (is_record_file(o.file)) return print_records(o, session);
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
  if (!o.only.empty() || (o.correlators.empty() && !session.reports_wanted())) print_all(o, result, session);
  return outcome_of(std::move(result));
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
