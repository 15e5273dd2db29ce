// quarksmith solve-bench: iterations, time and true residual of solvers and precisions on a Gaussian source.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "runs/command.hpp"
#include "runs/contraction.hpp"
#include "runs/print.hpp"
#include "runs/cycle_bench.hpp"
#include "runs/deflation.hpp"
#include "runs/solve.hpp"
#include "runs/timed_solve.hpp"
#include "runtime/error.hpp"
#include "runtime/hop_times.hpp"
#include "runtime/fields/site_random.hpp"
#include "runtime/text.hpp"
#include "solvers/eigen/deflation.hpp"
#include "solvers/solve/shifted.hpp"
#include "solvers/actions/working_gauge.hpp"

namespace quarksmith::runs {
namespace {

/// Solves by several methods in several precisions.
struct BenchedSolves final : SolveDescription {
  std::string methods = "cg,bicgstab", all_precisions = "double,double-single,double-half";

  using SolveDescription::SolveDescription;
  std::vector<std::string> solvers() const override { return split(methods, ','); }
  std::vector<std::string> precisions() const override { return split(all_precisions, ','); }

 protected:
  void list_method(Members::Adder add) override {
    add("solver", methods, fmt::format("multishift, {}, separated by commas", fmt::join(method_names(), ", ")));
    add("precision", all_precisions, "precisions, separated by commas: auto, double, double-half, double-bits20, ...");
  }
};

struct SolveBenchDescription : Description {
  ActionDescription action;
  BenchedSolves solve{action};
  DeflationDescription deflate;
  std::string batches = "1";
  std::string criterion = "residual", shifts = "0.001,0.01,0.1,1";
  std::filesystem::path csv, history;
  int repeats = 3, look_ahead = 2;
  bool operators = false, levels = false;
  long long seed = 7;

  void list(Members& members) override {
    auto add = members.of(*this);
    action.list(members);
    solve.list(members);
    deflate.list(members);
    add("batch", batches, "numbers of right-hand sides, separated by commas");
    add("shifts", shifts,
        "sigma of (A^+ A + sigma) x = b for multishift, separated by commas; A is the even-odd operator")
        .only("solver multishift", [this] { return solve.unless_used({"multishift"}); });
    add("criterion", criterion,
        "what --tol is compared with: residual, or normal: |A^+ (b - A x)| / |A^+ b| of the even-odd system");
    add("look_ahead", look_ahead, "iterations that a GPU has been given when the host looks at the first").range(1, 8);
    add("operator", operators, "time the operator of --even-odd alone, in every precision, and solve nothing");
    add("levels", levels, "of multigrid: time each part of a cycle on each level, too");
    add("repeat", repeats, "solves of each kind, of which the fastest counts").range(1, 1000);
    add("seed", seed, "of the source");
    add("csv", csv, "write the table to this file");
    add("history", history, "write the residual after each iteration to this CSV file");
  }
  void check() override;
  bool names(const char* solver) const { return solve.unless_used({solver}).empty(); }
};

/// Complex Gaussian numbers on all sites.
HostSpinor gaussian_source(const Lattice& lattice, std::uint64_t seed, int column) {
  HostSpinor source(lattice);
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    Random random = random_at(lattice, i, {seed, std::uint64_t(column)});
    for (Complex64& z : source.site[i]) {
      const double re = gaussian(random);
      z = {re, gaussian(random)};
    }
  }
  return source;
}

/// The precisions that occur in pairs `OUTER-INNER`, each once.
std::vector<std::string> operator_precisions(const std::string& pairs) {
  std::vector<std::string> all;
  for (const std::string& pair : split(pairs, ','))
    for (const std::string& name : split(pair, '-'))
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  return all;
}

class Bench {
 public:
  Bench(SolveBenchDescription& o, Session& session)
      : o_(o),
        session_(session),
        named_(open_gauge(o.action.gauge, o.action.lattice, session_)),
        choice_(o.action.choose(named_.gauge, session_)),
        settings_(o.solve.settings(named_.gauge, choice_.action, session_)),
        domain_(session_.open_domain(named_.gauge.lattice(), choice_.action.reach())) {
    settings_.options.criterion = criterion_of(o.criterion);
    settings_.options.look_ahead = o.look_ahead;
    for (const std::string& text : split(o.batches, ',')) {
      const long long batch = integer(text, "--batch");
      if (batch < 1 || batch > 64) throw UsageError(fmt::format("--batch {}: use 1 to 64", batch));
      batches_.push_back(static_cast<int>(batch));
    }
    for (const std::string& text : split(o.shifts, ',')) shifts_.push_back(number(text, "--shifts"));
  }

  void operator()() {
    if (o_.operators) return time_operators();
    print(session_, "{:<9} {:<14} {:>5} {:>6} {:>8} {:>10} {:>10} {:>9} {:>9} {:>9} {:>7} {:>7}\n", "solver",
          "precision", "batch", "iter", "replaced", "residual", "criterion", "seconds", "GFLOP/s", "MB", "host",
          "hops");
    for (const std::string& solver : split(o_.solve.methods, ','))
      for (const std::string& precision : split(o_.solve.all_precisions, ','))
        for (const int batch : solver == multishift ? std::vector{int(shifts_.size())} : batches_)
          for (int deflated = 0; deflated <= int(o_.deflate.is_given()); ++deflated) {
            rows_.push_back(measure(solver, precision, batch, deflated));
            print_row(rows_.back());
          }
    write();
    const auto missed = std::ranges::count(rows_, false, &TimedSolve::converged);
    if (missed > 0) throw Error(fmt::format("{} of {} solves did not converge", missed, rows_.size()));
  }

 private:
  static constexpr std::string_view multishift = "multishift";

  /// A solver with its fields.
  struct Job {
    std::function<void(TimedSolve&)> solve;
    std::function<double()> host_share;
    std::function<Multigrid*()> multigrid = [] { return nullptr; };
  };

  /// Applications of the operators that are iterated on, and of their conjugates, in every precision.
  void time_operators() {
    print(session_, "{:<14} {:>5} {:>12} {:>12} {:>9}\n", "precision", "batch", "us", "us, dagger", "GFLOP/s");
    const WorkingGauge gauge(named_.gauge, domain_, find_storage(settings_.links));
    const HostSpinor source = gaussian_source(named_.gauge.lattice(), o_.seed, 0);
    Json rows;
    for (const std::string& name : operator_precisions(o_.solve.all_precisions))
      for (const int batch : batches_) {
        const LinkStore links = gauge.store(domain_, settings_.links, settings_.basis);
        const auto dirac = choice_.action.make(links, find_precision(name));
        const SystemOperator system(*dirac, settings_.even_odd_form, batch);
        const LinearOperator& a = system.a();
        SpinorField in = a.field(batch, find_precision("double")), x = a.field(batch), y = x.like();
        SpinorField slices = in.by_slice();
        for (int n = 0; n < slices.rhs(); ++n) upload(source, slices, links.basis(), n);
        &in.precision() == &x.precision() ? x.copy_from(in) : convert(in, x);
        const double plain = seconds_of([&] { a.apply(y, x, Dagger::no); }),
                     dagger = seconds_of([&] { a.apply(y, x, Dagger::yes); });
        const double gflops = 2e-9 * a.flops() * batch / (plain + dagger);
        print(session_, "{:<14} {:>5} {:>12.2f} {:>12.2f} {:>9.0f}\n", name, batch, plain * 1e6, dagger * 1e6, gflops);
        rows.push_back({{"precision", name},
                        {"batch", batch},
                        {"microseconds", plain * 1e6},
                        {"microseconds_dagger", dagger * 1e6},
                        {"gflops", gflops}});
      }
    report(session_, {{"device", domain_->device().description()},
                      {"lattice", named_.gauge.lattice().global_extent()},
                      {"action", texts_of(choice_.provenance)},
                      {"operators", rows}});
  }

  /// Seconds of one call: the best of several bursts of a tenth of a second, the slowest rank's.
  double seconds_of(const std::function<void()>& work) const {
    Device& device = domain_->device();
    const auto burst = [&](int calls) {
      device.synchronize();
      const double start = now();
      for (int n = 0; n < calls; ++n) work();
      device.synchronize();
      return (now() - start) / calls;
    };
    burst(2);
    const int calls = std::clamp(static_cast<int>(0.1 / burst(2)), 1, 1000);
    double best = INFINITY;
    for (int n = 0; n < 5; ++n) best = std::min(best, burst(calls));
    return domain_->communicator().largest(best);
  }

  /// Reports once how far links in low precision deviate, as they are the same for all solves.
  void tell_once(const LinkDeviation& deviation) {
    if (!std::exchange(reported_, true)) tell(deviation, settings_, session_);
  }

  Job plain(const SolveSettings& settings, int batch) {
    const auto solver = std::make_shared<Solver>(choice_.action, named_.gauge, domain_, settings);
    tell_once(solver->link_deviation());
    const auto b = std::make_shared<SpinorField>(solver->field(batch));
    const auto x = std::make_shared<SpinorField>(b->like());
    SpinorField slices = b->by_slice();
    for (int n = 0; n < slices.rhs(); ++n)
      upload(gaussian_source(named_.gauge.lattice(), o_.seed, n), slices, solver->basis(), n);
    solver->prepare(batch);
    if (settings.method->cycle_fields > 0 && !std::exchange(saved_, true))
      o_.solve.near_null.write(*solver, choice_, named_, session_);
    return {[=](TimedSolve& row) { solver->forget(), row.reports = solver->solve_all(*x, *b); },
            [=] { return solver->host_share(); }, [=] { return solver->multigrid(); }};
  }
  /// A solver for one right-hand side with all shifts.
  Job shifted(const SolveSettings& settings) {
    if (choice_.action.slices() > 1)
      throw UsageError(fmt::format("action {}: shifted systems of one flavour in four dimensions are timed; use cg",
                                   choice_.action.name()));
    const int count = static_cast<int>(shifts_.size());
    const auto solver = std::make_shared<ShiftedSolver>(choice_.action, named_.gauge, domain_, settings, count);
    tell_once(solver->link_deviation());
    const auto b = std::make_shared<SpinorField>(solver->field(1)),
               x = std::make_shared<SpinorField>(solver->field(count));
    upload(gaussian_source(named_.gauge.lattice(), o_.seed, 0), *b, solver->basis());
    return {[=, this](TimedSolve& row) {
              row.shifts = solver->solve(*x, *b, shifts_);
              row.reports.assign(row.shifts.begin(), row.shifts.end());
            },
            [=] { return solver->host_share(); }};
  }

  TimedSolve measure(const std::string& solver, const std::string& precision, int batch, bool deflated) {
    TimedSolve row{.solver = solver, .precision = precision, .batch = batch};
    SolveSettings settings = settings_;
    if (solver != multishift) settings.method = method_of(solver);
    settings.precision = precision;
    settings.sources = batch;
    if (deflated && !deflation_)
      deflation_ = o_.deflate.make(choice_, named_.gauge, domain_, settings_, o_.solve.even_odd, session_);
    if (deflated) settings.deflation = deflation_;
    row.vectors = deflated ? deflation_->count() : 0;
    if (settings.method->cycle_fields > 0 && !near_null_)
      near_null_ = o_.solve.near_null.read(choice_, named_.gauge, domain_, settings_, session_);
    if (settings.method->cycle_fields > 0) settings.near_null = near_null_;
    double start = 0;
    bool recording = false;
    settings.options.rhs_observer = [&](int column, int iteration, double residual) {
      if (recording)
        history_ += fmt::format("{},{},{},{},{},{:.6g},{:.6g}\n", solver, precision, batch, column, iteration,
                                now() - start, residual);
    };
    Device& device = domain_->device();
    const auto* hops = dynamic_cast<const HopTimes*>(&device);
    const std::size_t before = device.held();
    const Job job = solver == multishift ? shifted(settings) : plain(settings, batch);
    row.seconds = INFINITY;
    for (int repeat = 0; repeat < o_.repeats; ++repeat) {
      recording = repeat + 1 == o_.repeats && !o_.history.empty();
      device.synchronize();
      const double hopped = hops != nullptr ? hops->hopping_seconds() : 0;
      start = now();
      TimedSolve again = row;
      job.solve(again);
      device.synchronize();
      again.seconds = now() - start;
      if (hops != nullptr) again.hop_share = (hops->hopping_seconds() - hopped) / again.seconds;
      if (again.seconds < row.seconds) row = std::move(again);
    }
    row.host_share = device.asynchronous() ? job.host_share() : 1;
    row.megabytes = 1e-6 * double(device.held() - before);
    if (Multigrid* const multigrid = job.multigrid(); o_.levels && multigrid != nullptr)
      levels_.push_back(
          {{"precision", precision},
           {"parts", time_cycle(*multigrid, batch, [this](const auto& f) { return seconds_of(f); }, session_)}});
    return row;
  }

  void print_row(const TimedSolve& r) const {
    const std::string hops = r.hop_share ? fmt::format("{:.1f} %", 100 * *r.hop_share) : "-";
    std::string vectors = r.precision == automatic_precision ? "  in " + r.reports[0].precision : "";
    if (r.vectors > 0) vectors += fmt::format("  {} eigenvectors", r.vectors);
    const std::string sent = domain_->lattice().ranks() > 1 ? fmt::format("  {:.1f} MB sent", r.megabytes_sent()) : "";
    print(session_,
          "{:<9} {:<14} {:>5} {:>6} {:>8} {:>10.2e} {:>10.2e} {:>9.4f} {:>9.0f} {:>9.0f} {:>5.1f} % {:>7}{}{}{}\n",
          r.solver, r.precision, r.batch, r.iterations(), r.replacements(), r.residual(), r.measured(), r.seconds,
          r.gflops(), r.megabytes, 100 * r.host_share, hops, sent, vectors, r.converged() ? "" : "  not converged");
    for (const ShiftReport& k : r.shifts)
      print(session_, "  shift {:<12g} {:>12} {:>6} {:>8} {:>10.2e}   {} in the common space\n", k.shift, "",
            k.iterations, k.replacements, k.residual, k.shared_iterations);
    if (const auto saving = saving_of(r.reports)) print(session_, "  {}\n", saving_text(*saving));
    tell_events(r.reports, [](int n) { return fmt::format("right-hand side {}", n); }, session_);
  }

  void write() const {
    Json j = {{"device", domain_->device().description()},
              {"gauge", named_.origin},
              {"lattice", named_.gauge.lattice().global_extent()},
              {"action", texts_of(choice_.provenance)},
              {"tolerance", o_.solve.tolerance},
              {"criterion", o_.criterion}};
    std::string text =
        "solver,precision,batch,iterations,replacements,residual,measured,seconds,gflops,megabytes,megabytes_sent,host_"
        "share,hop_share,vectors,converged\n";
    for (const TimedSolve& r : rows_) {
      j["solves"].push_back({{"solver", r.solver},
                             {"precision", r.precision},
                             {"precision_used", r.reports[0].precision},
                             {"links", r.reports[0].links},
                             {"batch", r.batch},
                             {"vectors", r.vectors},
                             {"iterations", r.iterations()},
                             {"replacements", r.replacements()},
                             {"residual", r.residual()},
                             {"measured", r.measured()},
                             {"seconds", r.seconds},
                             {"gflops", r.gflops()},
                             {"megabytes", r.megabytes},
                             {"megabytes_sent", r.megabytes_sent()},
                             {"host_share", r.host_share},
                             {"hop_share", r.hop_share ? Json(*r.hop_share) : nullptr},
                             {"converged", r.converged()}});
      if (const auto saving = saving_of(r.reports)) j["solves"].back()["saving"] = json_of(*saving);
      for (const ShiftReport& k : r.shifts)
        j["solves"].back()["shifts"].push_back({{"shift", k.shift},
                                                {"iterations", k.iterations},
                                                {"shared_iterations", k.shared_iterations},
                                                {"residual", k.residual},
                                                {"converged", k.converged}});
      text += fmt::format("{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.4g},{},{},{}\n", r.solver,
                          r.precision, r.batch, r.iterations(), r.replacements(), r.residual(), r.measured(), r.seconds,
                          r.gflops(), r.megabytes, r.megabytes_sent(), r.host_share,
                          r.hop_share ? fmt::format("{:.4g}", *r.hop_share) : "", r.vectors, int(r.converged()));
    }
    if (o_.levels) j["levels"] = levels_;
    report(session_, j);
    if (!o_.csv.empty()) session_.write(o_.csv, text);
    if (!o_.history.empty())
      session_.write(o_.history, "solver,precision,batch,column,iteration,seconds,residual\n" + history_);
  }

  SolveBenchDescription& o_;
  Session& session_;
  NamedGauge named_;
  ActionChoice choice_;
  SolveSettings settings_;
  DomainPointer domain_;
  std::vector<int> batches_;
  std::vector<double> shifts_;
  std::vector<TimedSolve> rows_;
  std::string history_;
  std::shared_ptr<const Deflation> deflation_;
  std::shared_ptr<const NearNullVectors> near_null_;
  Json levels_;
  bool reported_ = false, saved_ = false;
};

void SolveBenchDescription::check() {
  const std::vector<std::string> solvers = solve.solvers();
  std::vector<std::string_view> known = method_names();
  known.emplace_back("multishift");
  for (const std::string& solver : solvers)
    if (std::find(known.begin(), known.end(), solver) == known.end()) unknown_name("solver", solver, known);
  for (const std::string& precision : solve.precisions()) precisions_of(precision, 3);
  if (operators || names("multishift"))
    deflate.refuse_given({"deflate"}, fmt::format("serves solves of one system, not multishift or {}; leave it out",
                                                  called("operator")));
  if (levels && !names("multigrid"))
    refuse_given({"levels"},
                 fmt::format("belongs to solver multigrid, which {} does not name; leave it out", called("solver")));
  if (operators) {
    const std::string why =
        fmt::format("belongs to solves, and {} makes none; leave one of them out", called("operator"));
    refuse_given({"criterion", "repeat", "history", "look_ahead", "shifts", "csv", "levels"}, why);
    solve.refuse_given({"solver", "tol", "max_iterations", "updates", "delta", "preconditioner"}, why);
    for (const MethodOption& o : method_options()) solve.refuse_given({member_of(*o.number)}, why);
  }
  if (std::all_of(solvers.begin(), solvers.end(), [](const std::string& s) { return s == "multishift"; }))
    refuse_given({"batch"}, "does not belong to multishift, whose right-hand sides are its " + called("shifts"));
  criterion_of(criterion);
}

void run(SolveBenchDescription& o, Session& session) {
  const NearNullDescription& near_null = o.solve.near_null;
  session.claim({{"csv", o.csv}, {"history", o.history}, {"mg_save", near_null.save, true}},
                {{"gauge", o.action.gauge}, {"mg_load", near_null.load}});
  Bench(o, session)();
}

}  // namespace

namespace commands {
extern constinit const Command solve_bench = {.name = "solve-bench",
                                              .help = "Time solvers and precisions on a Gaussian source",
                                              .place = 150,
                                              .uses = Session::reads | Session::computes | Session::shares |
                                                      Session::crosses | Session::reports | Session::replaces,
                                              .make = task<SolveBenchDescription>};
}

}  // namespace quarksmith::runs
