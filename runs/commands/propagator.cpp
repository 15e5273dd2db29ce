// quarksmith propagator: sources -> solve -> propagator and correlators.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "runs/session.hpp"
#include "runs/column_groups.hpp"
#include "runs/contraction.hpp"
#include "runs/smeared_links.hpp"
#include "runs/stops.hpp"
#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/propagator.hpp"
#include "runtime/error.hpp"
#include "runtime/text.hpp"
#include "solvers/solve/mass_solver.hpp"
#include "solvers/gauge/link_smearing.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith::runs {
namespace {

/// One run of the command. Column n = 3 a + colour is of spin a, or of one colour vector a site of mass number a: the
/// columns of all masses are of one solve.
class PropagatorRun final : public ResumableRun {
 public:
  PropagatorRun(const PropagatorDescription& o, Session& session, Stops& stops)
      : ResumableRun(session, stops, o.time_limit),
        o_(o),
        named_(open_gauge(o.action.gauge, o.action.lattice, session_)),
        choice_(o.action.choose(named_.gauge, session_)),
        settings_(o.solve.settings(named_.gauge, choice_.action, session_)),
        source_(source_of(o.source, lattice())),
        sink_(sink_of(o.sink)),
        domain_(session_.open_domain(lattice(), choice_.action.reach())),
        plaquette_(gauge_averages(named_.gauge, domain_).plaquette),
        header_(propagator_header(o, named_, choice_, settings_, plaquette_, session_)),
        columns_(domain_, spinors() ? std::vector<double>() : choice_.masses),
        left_(std::size_t(steps())) {
    if (masses().size() > 1) {
      constexpr const char* why =
          "is no choice with several masses, which are solved for from one Krylov space; leave it out";
      o.refuse_given({"batch", "split"}, why);
      o.solve.refuse_given({"even_odd", "solver"}, why);
      o.solve.refuse_given({"slice_tol"}, "is a criterion of solves for one mass; give one at a time, or leave it out");
      o.deflate.refuse_given({"deflate"}, why);
    }
    if (source_.smearing && !spinors())
      throw UsageError(fmt::format("{} {}: smearing is for Dirac spinors; with {} use {}", o.called("source"), o.source,
                                   o.called("action", o.action.action), source_forms(1)));
    require_same_unfinished(header_, session_);
    store_ = open_columns(o.out, lattice(), header_, !o.correlators.empty() || session_.reports_wanted(), session_);
    if (source_.smearing || sink_)
      smearing_links_ = std::make_shared<LinkField>(
          upload(named_.gauge, domain_, find_precision("double"), find_storage(settings_.links)));
  }

  PropagatorResult operator()() {
    work();
    return std::move(result_);
  }

 private:
  void finish() override {
    const std::vector<double> residuals = columns_.residuals();
    std::vector<int> known;
    for (std::size_t n = 0; n < residuals.size(); ++n)
      known.push_back(warn_of_far_slices(spinors() ? "the propagator" : fmt::format("mass {}", masses()[n]),
                                         columns_.quark().quarks[n], residuals[n], o_.solve, session_));
    result_ = columns_.result(contraction());
    if (std::ranges::min(known) < lattice().global_extent(3) / 2) result_.known_slices = known;
    result_.saving = saving_of(reports_);
    if (store_.file) {
      store_.file->finish();
      session_.info(fmt::format("wrote {}", o_.out.string()));
      session_.set_closing_line(fmt::format("{} is finished", o_.out.string()));
    }
    // If the run is killed here, the same command line makes them of the finished file.
    write_correlators(o_.correlators, result_, session_);
    report(session_, json_of(result_));
    print(session_, "{} on {}\n", columns_.summary(), domain_->device().name());
    if (result_.saving) print(session_, "{}\n", saving_text(*result_.saving));
    if (session_.in_memory) result_.quark = columns_.release();
  }

  const Lattice& lattice() const { return named_.gauge.lattice(); }
  bool spinors() const { return choice_.action.spins() == 4; }
  const std::vector<double>& masses() const { return choice_.masses; }
  const BasisInfo& basis() const { return solver_ ? solver_->basis() : find_basis("degrand_rossi"); }
  Contraction contraction() const {
    return contraction_of(header_, plaquette_, source_.time(), choice_.action.setting().boundary[3],
                          spinors() ? o_.sink : "");
  }

  std::string title() const override { return "propagator"; }
  double steps() const override { return 3 * (spinors() ? 4 : 1); }
  bool has_more() const override { return next_ < left_.size(); }

  /// Takes the columns that there are.
  void begin(Progress& progress) override {
    std::vector<int> left;
    for (int n = 0; n < int(steps()); ++n) {
      stops_.look();
      if (!keep(n)) left.push_back(n);
    }
    left_ = left;
    if (!has_more()) return;
    make_solver(progress, left.size());
    progress.begin(steps() - double(left.size()));
  }

  void step(Progress& progress) override {
    const int most = width(left_.size()) * (groups_ ? groups_->count() : 1);
    const std::size_t count = std::min(left_.size() - next_, static_cast<std::size_t>(most));
    solve({left_.begin() + next_, left_.begin() + next_ + count});
    next_ += count;
    progress.show(steps() - double(left_.size() - next_));
  }

  void stop() override {
    result_ = columns_.unfinished(contraction());
    report(session_, json_of(result_));
    if (!result_.solves.empty()) print(session_, "{} on {}\n", columns_.summary(), domain_->device().name());
  }
  std::string too_short() const override {
    if (solved_ && store_.file) return "";
    return fmt::format("{}{}; give more time", solved_ ? "" : "no column was solved in this time; ", kept());
  }

  /// The columns of a source: one, or one for each mass.
  std::vector<int> columns_of(int source) const {
    std::vector<int> all = {source};
    if (!spinors())
      for (int k = 1; k < static_cast<int>(masses().size()); ++k) all.push_back(3 * k + source);
    return all;
  }
  std::string title_of(int n) const {
    return spinors() ? fmt::format("spin {} colour {}", n / 3, n % 3)
                     : fmt::format("colour {} mass {}", n % 3, masses()[std::size_t(n) / 3]);
  }

  std::string kept() const override {
    if (store_.finished)
      return fmt::format("{} is finished: the same command line makes correlators of it", o_.out.string());
    if (!store_.file) return "no column is kept: that takes --out FILE.h5";
    int columns = 0;
    for (int n = 0; n < header_.form.columns(); ++n) columns += store_.file->has(n / 3, n % 3);
    return fmt::format("{} of {} columns are kept in {}.part: the same command line goes on from there", columns,
                       header_.form.columns(), o_.out.string());
  }

  /// Takes a source's columns from the file, if all of them are there and whole.
  bool keep(int source) {
    if (!store_.file && !store_.finished) return false;
    const std::vector<int> all = columns_of(source);
    if (store_.file && std::none_of(all.begin(), all.end(), [&](int n) { return store_.file->touched(n / 3, n % 3); }))
      return false;
    HostSpinor solution(lattice());
    for (const int n : all) {
      if (store_.finished) {
        read_sound(*store_.finished, o_.out, n, solution);
      } else if (!store_.file->has(n / 3, n % 3) || !store_.file->read(n / 3, n % 3, solution)) {
        if (store_.file->touched(n / 3, n % 3))
          session_.warn(fmt::format("{}: damaged in {}.part: solved again", title_of(n), o_.out.string()));
        return false;
      }
      take(n, solution, store_.finished ? store_.finished->report(n / 3, n % 3) : store_.file->report(n / 3, n % 3));
    }
    if (store_.file)
      session_.info(fmt::format("{}: taken from {}.part",
                                spinors() ? title_of(source) : fmt::format("colour {}", source), o_.out.string()));
    return true;
  }

  /// Takes a column of a file.
  void take(int n, HostSpinor& column, const ColumnReport& report) {
    columns_.solve(n, report);
    columns_.note(n, column, report, session_.ranks());
    columns_.take(n, column);
    columns_.smear(n, sink_, smearing_links_);
  }

  /// Takes one that has been solved for, from where it is; the file gets it without the sink.
  void take(int n, const SpinorField& x, const SpinorField* middle, ColumnReport report) {
    std::swap(on_host_[0], on_host_[1]);  // begin_write has done with the one before the last
    std::shared_ptr<HostSpinor>& column = on_host_[0];
    if (!column && (store_.file || middle != nullptr)) column = std::make_shared<HostSpinor>(lattice());
    if (middle != nullptr) {
      download(*middle, *column, basis());
      report.midpoint = slice_norms(*column, session_.ranks());
    }
    columns_.take(n, x, basis());
    if (column) columns_.give(n, *column);
    if (store_.file) store_.file->begin_write(n / 3, n % 3, column, report);
    if (column) columns_.note(n, *column, report, session_.ranks());
    columns_.smear(n, sink_, smearing_links_);
  }

  void look() { groups_ ? stops_.look_among(groups_->session().ranks()) : stops_.look(); }

  /// \param left right-hand sides that are to come.
  void make_solver(Progress& progress, std::size_t left) {
    const bool free = masses().size() == 1 && choice_.action.setting().fields.empty() && !o_.deflate.is_given() &&
                      o_.solve.near_null.save.empty() && are_independent(settings_, domain_->device());
    groups_ =
        ColumnGroups::chosen(o_.split, o_.called("split"), free, static_cast<int>(left), named_, domain_, session_);
    if (!groups_) return make_solver(progress, left, named_, domain_, session_);
    if (!choice_.action.setting().fields.empty())
      throw UsageError(o_.called("split") + ": fields that an action takes are not handed to groups; leave it out");
    const std::size_t groups = std::size_t(groups_->count());
    const auto make = [&] {
      make_solver(progress, (left + groups - 1) / groups, groups_->named(), groups_->domain(), groups_->session());
    };
    groups_->together(make, &stops_);
  }
  void make_solver(Progress& progress, std::size_t left, const NamedGauge& named, const DomainPointer& domain,
                   Session& session) {
    if (o_.deflate.is_given() && !settings_.deflation)
      settings_.deflation =
          o_.deflate.make(choice_, named.gauge, domain, settings_, o_.solve.even_odd, session, [this] { look(); });
    if (!settings_.near_null)
      settings_.near_null = o_.solve.near_null.read(choice_, named.gauge, domain, settings_, session);
    SolveSettings settings = settings_;
    settings.sources = static_cast<int>(left);
    settings.options.observer = [this, &progress](int iteration, double residual) {
      look();
      const double share = residual > 0 ? std::log(residual) / std::log(o_.solve.tolerance) : 1;
      progress.show(first_ + 0.99 * count_ * std::clamp(share, 0.0, 1.0),
                    fmt::format("{} iteration {} residual {:.1e}", columns_text(), iteration, residual));
    };
    if (masses().size() > 1)
      many_ = std::make_unique<MassSolver>(choice_.action, masses(), named.gauge, domain, settings);
    else if (o_.smear_links.empty())
      solver_ = std::make_unique<Solver>(choice_.action, named.gauge, domain, settings);
    else  // the action sees other links than sources and sinks
      solver_ = std::make_unique<Solver>(
          choice_.action,
          std::make_shared<const LinkField>(smear_with_warning(o_.smear_links, named.gauge, domain, session)),
          settings);
    warn_beyond_critical("the quark", choice_.action, plaquette_, session);
    tell(many_ ? many_->link_deviation() : solver_->link_deviation(), settings, session);
    if (o_.solve.near_null.save.empty()) return;
    solver_->prepare(1);
    o_.solve.near_null.write(*solver_, choice_, named, session);
  }

  /// Right-hand sides of a batch: what --batch says, else as many as fit.
  int width(std::size_t left) {
    if (o_.batch > 0) return o_.batch;
    const bool shares = solver_ && solver_->shares();  // that of auto may have taken multigrid
    if (width_ == 0 || shares != shares_)
      width_ = many_ ? 1
                     : columns_at_once(*solver_, choice_.action, static_cast<int>(left),
                                       groups_ ? groups_->session() : session_);
    shares_ = shares;
    return groups_ ? -static_cast<int>(session_.ranks().largest(-width_)) : width_;
  }

  std::string columns_text() const { return count_ > 1 ? fmt::format("{} columns", count_) : title_of(first_); }

  /// Solves for some sources together; what converged is kept.
  void solve(const std::vector<int>& sources) {
    const int count = static_cast<int>(sources.size()), spins = choice_.action.spins();
    first_ = sources[0];
    count_ = count;
    SpinorField b(domain_, find_precision("double"), Subset::full, count, spins);
    for (int i = 0; i < count; ++i) {
      set_source(source_, spinors() ? sources[i] / 3 : 0, sources[i] % 3, b, basis(), i);
      SpinorField one = b.columns(i, 1);
      smear(source_.smearing, smearing_links_, one);
    }
    std::vector<int> columns;
    for (const int n : sources)
      for (const int of : columns_of(n)) columns.push_back(of);
    SpinorField x(domain_, find_precision("double"), Subset::full, static_cast<int>(columns.size()), spins);
    std::optional<SpinorField> middle;
    if (header_.form.midpoint) middle.emplace(b.like());
    const std::vector<SolveReport> reports = solve(b, x, middle ? &*middle : nullptr);
    reports_.insert(reports_.end(), reports.begin(), reports.end());
    tell_events(reports, [&](int i) { return title_of(columns[i]); }, session_);
    std::string failed;
    for (int i = 0; i < static_cast<int>(columns.size()); ++i) {
      const int n = columns[i];
      const SolveReport& r = reports[i];
      const ColumnReport report = report_of(r);
      ColumnSolve& solve = columns_.solve(n, report);
      solve.events = r.events;
      solve.converged = r.converged;
      solve.slice_residual = r.slice_residual;
      if (!r.converged) {
        if (failed.empty())
          failed =
              fmt::format("{}: {}", title_of(n), failure_text(r, settings_, choice_.action, o_.solve.choice_names()));
        continue;
      }
      const SpinorField one = x.columns(i, 1);
      const std::optional<SpinorField> half_way = middle ? std::optional(middle->columns(i, 1)) : std::nullopt;
      take(n, one, half_way ? &*half_way : nullptr, report);
    }
    solved_ = true;
    if (failed.empty()) return;
    report(session_, json_of(columns_.unfinished(contraction())));
    throw Error(fmt::format("{}; {}columns solved so far are kept", failed, store_.file ? "" : "no "));
  }

  /// \param middle of a fifth dimension; or null.
  std::vector<SolveReport> solve(const SpinorField& b, SpinorField& x, SpinorField* middle) {
    if (many_) return many_->solve(x, b);
    const auto by_solver = [this](const SpinorField& source, SpinorField& quark, SpinorField* half_way) {
      return solver_->solve_sources(quark, source, [&](const SpinorField& vectors) {
        if (half_way != nullptr) solver_->dirac().midpoint(*half_way, vectors);
      });
    };
    if (!groups_) return by_solver(b, x, middle);
    std::vector<SpinorField*> made = {&x};
    if (middle != nullptr) made.push_back(middle);
    const auto of_group = [&](const SpinorField& source, std::vector<SpinorField>& own) {
      return by_solver(source, own[0], own.size() > 1 ? &own[1] : nullptr);
    };
    return groups_->solve(b, made, false, of_group, &stops_);
  }

  ColumnReport report_of(const SolveReport& r) const {
    const auto remark = [this](const char* key) { return std::get<std::string>(header_.remarks.at(key)); };
    const std::string solver = many_ ? remark("solver") : std::string(name_of(r.method));
    return {double(r.iterations), r.residual,         r.seconds, r.gflops, solver,
            r.precision,          remark("even_odd"), r.links,   {}};
  }

  const PropagatorDescription& o_;
  NamedGauge named_;
  ActionChoice choice_;
  SolveSettings settings_;
  SourceSettings source_;
  QuarkSmearing sink_;
  DomainPointer domain_;
  double plaquette_;
  PropagatorHeader header_;
  ColumnStore store_;
  std::shared_ptr<const LinkField> smearing_links_;
  std::unique_ptr<ColumnGroups> groups_;  // null: all ranks solve together
  std::unique_ptr<Solver> solver_;        // or, of several masses:
  std::unique_ptr<MassSolver> many_;
  Columns columns_;
  /// Of the file, or of a midpoint: one is written while the next comes from the device.
  std::array<std::shared_ptr<HostSpinor>, 2> on_host_;
  PropagatorResult result_;
  std::vector<SolveReport> reports_;  // of this run
  std::vector<int> left_;             // sources that are to be solved for, once that is known
  std::size_t next_ = 0;              // among them
  int first_ = 0, count_ = 0;         // the batch under way
  int width_ = 0;
  bool shares_ = false;  // what width_ was taken for
  bool solved_ = false;  // something in this run
};

}  // namespace

namespace commands {
extern constinit const Command propagator = {.name = "propagator",
                                             .help = "Solve for a quark propagator; write it and its correlators",
                                             .place = 100,
                                             .uses = Session::reads | Session::computes | Session::shares |
                                                     Session::crosses | Session::reports | Session::replaces,
                                             .make = task<PropagatorDescription>,
                                             .leaves = "quarks"};
}

PropagatorResult run(PropagatorDescription& o, Session& session) {
  enter(o, session, commands::propagator);
  if (o.out.empty() && o.correlators.empty() && !session.reports_wanted())
    throw UsageError(
        fmt::format("propagator needs {} FILE.h5, {} FILE.json, or both", o.called("out"), o.called("correlators")));
  if (o.correlators.empty() && !session.reports_wanted())
    o.refuse_given({"sink"}, fmt::format("acts on correlators, of which none are asked for; add {} FILE.json",
                                         o.called("correlators")));
  // Of a finished propagator correlators are made again.
  const NearNullDescription& near_null = o.solve.near_null;
  const bool done = !o.out.empty() && exists_on_root(o.out, session);
  session.claim({{"out", o.out, true}, {"correlators", o.correlators, false, done}, {"mg_save", near_null.save, true}},
                {{"gauge", o.action.gauge}, {"mg_load", near_null.load}, {"deflate", o.deflate.text}},
                has_unfinished(session) ? Existing::replace : Existing::refuse);
  Stops stops(o.time_limit, solve_patience, session);
  return PropagatorRun(o, session, stops)();
}

}  // namespace quarksmith::runs
