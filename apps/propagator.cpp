// quarksmith propagator: sources -> solve -> propagator and correlators.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "apps/contraction.hpp"
#include "apps/option_rules.hpp"
#include "apps/staggered_propagator.hpp"
#include "runtime/error.hpp"
#include "runtime/text.hpp"
#include "solvers/gauge/link_smearing.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::apps {
namespace {

struct PropagatorOptions {
  CommonOptions common;
  ActionOptions action;
  SolverChoices choices;
  std::string source = "point:0,0,0,0", sink = "point", smear_links, solver, precision = "double";
  int batch = 0;
  std::filesystem::path out, correlators;
};

SolveSettings settings_of(const PropagatorOptions& o, const CLI::App& command, const HostGauge& gauge,
                          const ActionChoice& choice) {
  SolveSettings s = o.choices.settings(command, gauge, *choice.action, o.common);
  s.method = method_of(o.solver.empty() ? choice.solver : o.solver);
  s.precision = o.precision;
  return s;
}

/// What of the run decides the columns, and what else is worth to know of them. The sink does not touch them.
PropagatorHeader header_of(const PropagatorOptions& o, const NamedGauge& named, const ActionChoice& choice,
                           const SolveSettings& settings, double plaquette) {
  PropagatorHeader header(choice.provenance);
  header.provenance.insert({{"gauge_digest", gauge_digest(named.gauge, o.common)},
                            {"source", o.source},
                            {"smear_links", o.smear_links.empty() ? "none" : o.smear_links},
                            {"basis", "degrand_rossi"},
                            {"tolerance", o.choices.tolerance}});
  header.remarks = {{"gauge", named.origin},
                    {"plaquette", plaquette},
                    {"program_version", QUARKSMITH_VERSION},
                    {"solver", o.solver.empty() ? choice.solver : o.solver},
                    {"precision", o.precision},
                    {"even_odd", settings.reduction == Reduction::none ? "none" : o.choices.even_odd},
                    {"links", settings.links}};
  header.form.midpoint = choice.action->has_midpoint();
  return header;
}

/// One run of the command.
class Run {
 public:
  Run(const PropagatorOptions& o, const CLI::App& command)
      : o_(o),
        named_(open_gauge(o.action.gauge, o.action.lattice, o.common)),
        choice_(o.action.choose(command, named_.gauge, o.common)),
        settings_(settings_of(o, command, named_.gauge, choice_)),
        source_(source_of(o.source, lattice())),
        sink_(sink_of(o.sink)),
        domain_(o.common.open_domain(lattice())),
        plaquette_(gauge_averages(named_.gauge, domain_).plaquette),
        header_(header_of(o, named_, choice_, settings_, plaquette_)),
        columns_(lattice(), {}) {
    if (!o.smear_links.empty())
      smeared_ =
          std::make_shared<const LinkField>(smear_on_device(link_smearing_of(o.smear_links), named_.gauge, domain_));
    store_ = open_columns(o.out, lattice(), header_, !o.correlators.empty() || !o.common.json.empty(), o.common);
    if (source_.smearing || sink_)
      smearing_links_ = std::make_shared<LinkField>(
          upload(named_.gauge, domain_, find_precision("double"), find_storage(settings_.links)));
  }

  int operator()() {
    Progress progress("propagator", 12, o_.common);
    std::vector<int> left;
    for (int n = 0; n < 12; ++n)
      if (!keep(n)) left.push_back(n);
    for (std::size_t first = 0; first < left.size();) {
      if (!solver_) make_solver(progress);
      const std::size_t count = std::min(left.size() - first, static_cast<std::size_t>(width(left.size())));
      solve({left.begin() + first, left.begin() + first + count});
      first += count;
      progress.show(static_cast<double>(12 - left.size() + first));
    }
    const nlohmann::ordered_json result =
        columns_.result(contraction_of(header_, plaquette_, source_.time(), choice_.boundary[3], o_.sink));
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

  /// Takes a column from the file, if it is there and whole.
  bool keep(int n) {
    HostSpinor solution(lattice());
    if (store_.finished) {
      read_sound(*store_.finished, o_.out, n, solution);
      take(n, solution, store_.finished->report(n / 3, n % 3));
      return true;
    }
    if (!store_.file) return false;
    const bool sound = store_.file->has(n / 3, n % 3) && store_.file->read(n / 3, n % 3, solution);
    if (!sound) {
      if (store_.file->touched(n / 3, n % 3))
        o_.common.warn(
            fmt::format("spin {} colour {}: damaged in {}.part: solved again", n / 3, n % 3, o_.out.string()));
      return false;
    }
    o_.common.info(fmt::format("spin {} colour {}: taken from {}.part", n / 3, n % 3, o_.out.string()));
    take(n, solution, store_.file->report(n / 3, n % 3));
    return true;
  }

  /// Takes a column of a file.
  void take(int n, HostSpinor& column, const ColumnReport& report) {
    columns_.solve(n, report);
    columns_.note(n, column, report);
    smear(sink_, smearing_links_, column);
    columns_.take(n, column);
  }

  /// Takes one that has been solved for, from where it is; the file gets it without the sink.
  void take(int n, SpinorField& x, const SpinorField* middle, ColumnReport report) {
    HostSpinor column(lattice());
    if (middle != nullptr) {
      download(*middle, column, solver_->basis());
      report.midpoint = slice_norms(column, o_.common.ranks());
    }
    if (!sink_ || store_.file || middle != nullptr) download(x, column, solver_->basis());
    if (store_.file) store_.file->write(n / 3, n % 3, column, report);
    columns_.note(n, column, report);
    if (sink_) {
      smear(sink_, smearing_links_, x);
      download(x, column, solver_->basis());
    }
    columns_.take(n, column);
  }

  void make_solver(Progress& progress) {
    SolveSettings settings = settings_;
    settings.options.observer = [this, &progress](int iteration, double residual) {
      const double share = residual > 0 ? std::log(residual) / std::log(o_.choices.tolerance) : 1;
      progress.show(first_ + 0.99 * count_ * std::clamp(share, 0.0, 1.0),
                    fmt::format("{} iteration {} residual {:.1e}", columns_text(), iteration, residual));
    };
    solver_ = smeared_ ? std::make_unique<Solver>(choice_.action, smeared_, settings)
                       : std::make_unique<Solver>(choice_.action, named_.gauge, domain_, settings);
    tell(solver_->link_deviation(), settings, o_.common);
  }

  /// Right-hand sides of a batch: what --batch says, else as many as the device's memory holds. On the CPU solves
  /// of several are no faster (docs/performance.md): one at a time.
  int width(std::size_t left) {
    if (o_.batch > 0) return o_.batch;
    if (width_ == 0) {
      Device& device = domain_->device();
      if (!device.asynchronous()) return width_ = 1;
      const SpinorField one(domain_, find_precision("double"), Subset::full);
      // Source and quark field, and with a fifth dimension the vectors of both and one to project.
      const int slices = choice_.action->slices(), fields = slices > 1 ? 4 + 3 * slices : 2;
      const std::size_t each = solver_->bytes_per_rhs() + fields * one.bytes_per_rhs();
      const std::size_t margin = device.free_memory() / 10;
      // As many as fit on every rank.
      const auto fitting =
          static_cast<int>(-o_.common.ranks().largest(-std::floor(double(device.free_memory() - margin) / each)));
      width_ = std::clamp(fitting, 1, static_cast<int>(left));
      if (width_ >= 4) width_ -= width_ % 4;  // whole tiles of right-hand sides
      o_.common.info(fmt::format("{} columns at a time", width_));
    }
    return width_;
  }

  std::string columns_text() const {
    if (count_ > 1) return fmt::format("{} columns", count_);
    return fmt::format("spin {} colour {}", first_ / 3, first_ % 3);
  }

  /// Solves some columns together; what converged is kept.
  void solve(const std::vector<int>& columns) {
    const int count = static_cast<int>(columns.size());
    first_ = columns[0];
    count_ = count;
    SpinorField b(domain_, find_precision("double"), Subset::full, count), x = b.like();
    for (int i = 0; i < count; ++i) {
      upload(make_source(source_, lattice(), columns[i] / 3, columns[i] % 3), b, solver_->basis(), i);
      SpinorField one = b.columns(i, 1);
      smear(source_.smearing, smearing_links_, one);
    }
    SpinorField middle = b.like();
    const std::vector<SolveReport> reports = solver_->solve_sources(x, b, [&](const SpinorField& vectors) {
      if (header_.form.midpoint) solver_->dirac().midpoint(middle, vectors);
    });
    std::string failed;
    for (int i = 0; i < count; ++i) {
      const int n = columns[i];
      const SolveReport& r = reports[i];
      const ColumnReport report = report_of(r);
      nlohmann::ordered_json& entry = columns_.solve(n, report);
      for (const SolverEvent& e : r.events) {
        entry["events"].push_back({{"iteration", e.iteration}, {"what", e.what}});
        o_.common.warn(fmt::format("spin {} colour {}, iteration {}: {}", n / 3, n % 3, e.iteration, e.what));
      }
      if (!r.converged) {
        entry["converged"] = false;
        if (failed.empty())
          failed = fmt::format(
              "spin {} colour {}: not converged: residual {:.2e} after {} iterations, {:.1e} asked for; {}", n / 3,
              n % 3, r.residual, r.iterations, o_.choices.tolerance, remedy_of(settings_, r, option_names));
        continue;
      }
      SpinorField one = x.columns(i, 1);
      const SpinorField half_way = middle.columns(i, 1);
      take(n, one, header_.form.midpoint ? &half_way : nullptr, report);
    }
    if (failed.empty()) return;
    o_.common.write_json(
        {{"lattice", lattice().global_extent()}, {"plaquette", plaquette_}, {"solves", columns_.solves()}});
    throw Error(fmt::format("{}; {}columns solved so far are kept", failed, store_.file ? "" : "no "));
  }

  ColumnReport report_of(const SolveReport& r) const {
    const auto remark = [this](const char* key) { return std::get<std::string>(header_.remarks.at(key)); };
    return {double(r.iterations), r.residual,         r.seconds, r.gflops, std::string(name_of(r.method)),
            remark("precision"),  remark("even_odd"), r.links,   {}};
  }

  const PropagatorOptions& o_;
  NamedGauge named_;
  ActionChoice choice_;
  SolveSettings settings_;
  SourceSettings source_;
  QuarkSmearing sink_;
  DomainPointer domain_;
  double plaquette_;
  PropagatorHeader header_;
  std::shared_ptr<const LinkField> smeared_;  // what the action sees with --smear-links
  ColumnStore store_;
  std::shared_ptr<const LinkField> smearing_links_;
  std::unique_ptr<Solver> solver_;
  Columns columns_;
  int first_ = 0, count_ = 0;  // the batch under way
  int width_ = 0;
};

/// Everything that can be said of the options before a file is read.
void check(const PropagatorOptions& o, const CLI::App& command) {
  if (o.out.empty() && o.correlators.empty() && o.common.json.empty())
    throw UsageError("propagator needs --out FILE.h5, --correlators FILE.json, or both");
  const ActionInfo& action = o.action.info(command);
  const std::string solver = o.solver.empty() ? default_solver(action) : o.solver;
  check_options(command, {listed_name(action), {solver}, {o.precision}, o.choices.preconditioner});
  o.action.check(command);
  o.choices.check();
  if (o.correlators.empty() && o.common.json.empty())
    refuse_options(command, {"--sink"},
                   "acts on correlators, of which none are asked for; add --correlators FILE.json");
  if (action.spins == 1)
    refuse_options(command, {"--batch", "--even-odd"},
                   fmt::format("does not belong to --action {} here; leave it out", o.action.action));
  // Of a finished propagator correlators are made again.
  const bool done = !o.out.empty() && exists_on_root(o.out, o.common);
  o.common.claim({{"--out", o.out, true}, {"--correlators", o.correlators, false, done}},
                 {{"--gauge", o.action.gauge}});
}

int staggered(const PropagatorOptions& o, const CLI::App& command) {
  if (command.count("--solver") > 0 && o.solver != "cg")
    throw UsageError(fmt::format("--solver {}: --action {} is solved by cg", o.solver, o.action.action));
  return run_staggered({command, o.common, o.action, o.choices, o.source, o.precision, o.correlators, o.out});
}

}  // namespace

void add_propagator(CLI::App& app, int& status) {
  auto o = std::make_shared<PropagatorOptions>();
  CLI::App* c = app.add_subcommand("propagator", "Solve for a quark propagator; write it and its correlators");
  o->action.add_to(*c);
  c->add_option("--source", o->source, source_forms())->capture_default_str();
  c->add_option("--sink", o->sink, sink_forms() + " (acts on correlators only)")->capture_default_str();
  c->add_option("--smear-links", o->smear_links,
                fmt::format("links of the action: {} (default: as they are); sources and sinks use the unsmeared links",
                            link_smearing_forms()));
  const auto by_cg = action_names([](const ActionInfo& a) { return default_solver(a) == "cg"; });
  c->add_option("--solver", o->solver,
                fmt::format("{} (default: auto, which is bicgstab, and cg where that fails; cg for {})",
                            one_of(method_names()), fmt::join(by_cg, ", ")));
  c->add_option("--precision", o->precision,
                "of a solve: double, single, or mixed: double-half, double-single, single-half, double-bits20, ...")
      ->capture_default_str();
  o->choices.add_to(*c);
  c->add_option("--batch", o->batch,
                "columns solved together (default: as many as the GPU's memory holds; on the CPU 1)")
      ->check(CLI::Range(1, 12));
  c->add_option("--out", o->out, "propagator (HDF5); an interrupted FILE.part is continued");
  c->add_option("--correlators", o->correlators, "correlators: JSON, or CSV if the name ends in .csv");
  o->common.add_to(*c, CommonOptions::computes | CommonOptions::shares | CommonOptions::crosses |
                           CommonOptions::reports | CommonOptions::replaces);
  c->callback([o, c, &status] {
    check(*o, *c);
    status = o->action.info(*c).spins == 1 ? staggered(*o, *c) : Run(*o, *c)();
  });
}

}  // namespace quarksmith::apps
