// quarksmith propagator with a staggered action: sources -> solves of all masses -> pions.
#include "apps/staggered_propagator.hpp"

#include <fmt/format.h>

#include "apps/contraction.hpp"
#include "runtime/error.hpp"
#include "solvers/measure/source.hpp"
#include "solvers/actions/staggered_masses.hpp"

namespace quarksmith::apps {
namespace {

class StaggeredSolves {
 public:
  explicit StaggeredSolves(const StaggeredRun& o)
      : o_(o),
        named_(open_gauge(o.action.gauge, o.action.lattice, o.common)),
        choice_(o.action.choose(o.command, named_.gauge, o.common)),
        source_(source_of(o.source, lattice())),
        domain_(o.common.open_domain(lattice(), choice_.action->reach())),
        settings_(settings_of(o, named_.gauge, *choice_.action)),
        plaquette_(gauge_averages(named_.gauge, domain_).plaquette),
        header_(header_of()),
        columns_(lattice(), choice_.masses) {
    if (source_.smearing)
      throw UsageError(fmt::format("--source {}: smearing is for Dirac spinors; with --action {} use {}", o.source,
                                   o.action.action, source_forms(1)));
  }

  int operator()() {
    store_ = open_columns(o_.out, lattice(), header_, !o_.correlators.empty() || !o_.common.json.empty(), o_.common);
    for (int colour = 0; colour < 3; ++colour)
      if (!keep(colour)) solve(colour);
    const nlohmann::ordered_json result =
        columns_.result(contraction_of(header_, plaquette_, source_.time(), choice_.boundary[3], ""));
    if (store_.file) {
      store_.file->finish();
      o_.common.info(fmt::format("wrote {}", o_.out.string()));
    }
    // If the run is killed here, the same command line makes them of the finished file.
    write_correlators(o_.correlators, result, o_.common);
    o_.common.write_json(result);
    return 0;
  }

 private:
  const Lattice& lattice() const { return named_.gauge.lattice; }
  const std::vector<double>& masses() const { return choice_.masses; }

  static SolveSettings settings_of(const StaggeredRun& o, const HostGauge& gauge, const Action& action) {
    SolveSettings settings = o.choices.settings(o.command, gauge, action, o.common);
    choose_storage(settings, action, o.command);
    settings.method = Method::cg;
    settings.precision = o.precision;
    return settings;
  }

  PropagatorHeader header_of() const {
    PropagatorHeader header(choice_.provenance);
    header.provenance.insert({{"gauge_digest", gauge_digest(named_.gauge, o_.common)},
                              {"source", o_.source},
                              {"tolerance", o_.choices.tolerance}});
    header.remarks = {{"gauge", named_.origin},
                      {"plaquette", plaquette_},
                      {"program_version", QUARKSMITH_VERSION},
                      {"solver", masses().size() > 1 ? "multi-shift cg" : "cg"},
                      {"precision", o_.precision},
                      {"even_odd", "symmetric"},
                      {"links", settings_.links}};
    header.form = {true, static_cast<int>(masses().size()), false};
    return header;
  }

  /// Takes a colour's columns from the file, if those of all masses are there and whole.
  bool keep(int colour) {
    if (!store_.file && !store_.finished) return false;
    HostSpinor column(lattice());
    for (int k = 0; k < static_cast<int>(masses().size()); ++k) {
      if (store_.finished) {
        read_sound(*store_.finished, o_.out, 3 * k + colour, column);
      } else if (!store_.file->has(k, colour) || !store_.file->read(k, colour, column)) {
        if (store_.file->touched(k, colour))
          o_.common.warn(
              fmt::format("colour {} mass {}: damaged in {}.part: solved again", colour, masses()[k], o_.out.string()));
        return false;
      }
      columns_.solve(3 * k + colour,
                     store_.finished ? store_.finished->report(k, colour) : store_.file->report(k, colour));
      columns_.take(3 * k + colour, column);
    }
    if (store_.file) o_.common.info(fmt::format("colour {}: taken from {}.part", colour, o_.out.string()));
    return true;
  }

  void make_solver() {
    if (masses().size() > 1)
      many_ = std::make_unique<StaggeredMassSolver>(*choice_.action, masses(), named_.gauge, domain_, settings_);
    else
      one_ = std::make_unique<Solver>(choice_.action, named_.gauge, domain_, settings_);
    tell(many_ ? many_->link_deviation() : one_->link_deviation(), settings_, o_.common);
  }

  void solve(int colour) {
    if (!one_ && !many_) make_solver();
    const int count = static_cast<int>(masses().size());
    SpinorField b(domain_, find_precision("double"), Subset::full, 1, 1);
    SpinorField x(domain_, find_precision("double"), Subset::full, count, 1);
    const BasisInfo& basis = find_basis("degrand_rossi");
    upload(make_source(source_, lattice(), 0, colour), b, basis);
    const std::vector<SolveReport> reports = many_ ? many_->solve(x, b) : std::vector<SolveReport>{one_->solve(x, b)};
    HostSpinor column(lattice());
    for (int k = 0; k < count; ++k) {
      const ColumnReport report = report_of(reports[k]);
      state(colour, k, reports[k], report);
      download(x, column, basis, k);
      if (store_.file) store_.file->write(k, colour, column, report);
      columns_.take(3 * k + colour, column);
    }
  }

  ColumnReport report_of(const SolveReport& r) const {
    const auto remark = [this](const char* key) { return std::get<std::string>(header_.remarks.at(key)); };
    return {double(r.iterations), r.residual,         r.seconds, r.gflops, remark("solver"),
            remark("precision"),  remark("even_odd"), r.links,   {}};
  }

  void state(int colour, int k, const SolveReport& r, const ColumnReport& report) {
    const std::string title = fmt::format("colour {} mass {}", colour, masses()[k]);
    nlohmann::ordered_json& entry = columns_.solve(3 * k + colour, report);
    for (const SolverEvent& e : r.events) {
      entry["events"].push_back({{"iteration", e.iteration}, {"what", e.what}});
      o_.common.warn(fmt::format("{}, iteration {}: {}", title, e.iteration, e.what));
    }
    o_.common.info(fmt::format("{}: {} iterations, residual {:.1e}", title, r.iterations, r.residual));
    if (!r.converged)
      throw Error(fmt::format("{}: not converged: residual {:.2e} after {} iterations, {:.1e} asked for; {}", title,
                              r.residual, r.iterations, o_.choices.tolerance, remedy_of(settings_, r, option_names)));
  }

  const StaggeredRun& o_;
  NamedGauge named_;
  ActionChoice choice_;
  SourceSettings source_;
  DomainPointer domain_;
  SolveSettings settings_;
  double plaquette_;
  PropagatorHeader header_;
  Columns columns_;
  ColumnStore store_;
  std::unique_ptr<Solver> one_;  // or, for several masses:
  std::unique_ptr<StaggeredMassSolver> many_;
};

}  // namespace

int run_staggered(const StaggeredRun& run) { return StaggeredSolves(run)(); }

}  // namespace quarksmith::apps
