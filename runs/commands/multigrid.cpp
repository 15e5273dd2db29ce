// quarksmith multigrid tune: parameters of multigrid, found within a budget.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/stops.hpp"
#include "runs/multigrid_file.hpp"
#include "runs/solve.hpp"
#include "runtime/error.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/measure/disconnected.hpp"
#include "solvers/multigrid/tune.hpp"

namespace quarksmith::runs {
namespace {

constexpr const char* solver_name = "multigrid";

struct TuneDescription : Description {
  ActionDescription action;
  SolveDescription solve{action};
  std::string what, within = "60";
  std::filesystem::path out;
  int columns = 12;
  bool solves_alone = false;

  TuneDescription() { solve.solver = solver_name, solve.precision = "double-single"; }

  void list(Members& members) override {
    auto add = members.of(*this);
    add("what", what, "tune: measure blocks, vectors and steps, and write the best as a file of --mg")
        .required()
        .among({"tune"})
        .positional();
    action.list(members);
    add("within", within, "budget: SECONDS, MM:SS or HH:MM:SS");
    add("columns", columns, "right-hand sides for which a setup serves").range(1, 1000);
    add("solves_alone", solves_alone, "the setup does not count");
    solve.list(members);
    members.leave_out({"solver", "slice_tol", "mg_load", "mg_save", "mg_refresh"});
    add("out", out, "FILE.toml for --mg").required();
  }
};

/// Parameters that were measured.
struct Trial {
  MultigridParameters parameters;
  std::string what, failure = {};
  double setup = 0, solve = 0, total = INFINITY;  ///< seconds; `solve` of a column
  int iterations = 0;
};

/// A trial takes longer than the best one in all, or the time is up.
struct TooLong {};

class Tuning {
 public:
  Tuning(TuneDescription& o, Session& session, double seconds)
      : o_(o),
        session_(session),
        end_(clock() + seconds),
        named_(open_gauge(o.action.gauge, o.action.lattice, session_)),
        choice_(o.action.choose(named_.gauge, session_)),
        settings_(o.solve.settings(named_.gauge, choice_.action, session_)),
        domain_(session_.open_domain(named_.gauge.lattice(), choice_.action.reach())),
        b_(domain_, find_precision("double"), Subset::full, o.columns, choice_.action.spins()) {
    settings_.tell = {};
  }

  void operator()() {
    const Lattice& lattice = domain_->lattice();
    const int slices = choice_.action.slices();
    const MultigridParameters begin = settings_.multigrid.value_or(multigrid_for(lattice, slices));
    session_.info(text_of(begin, lattice));
    print(session_, "{:>4} {:>9} {:>9} {:>9} {:>6}  {}\n", "", "in all", "setup", "a solve", "iter", "tried");
    const MultigridParameters best = tuned(
        begin, multigrid_moves(lattice, slices),
        [this](const MultigridParameters& p, const std::string& what) { return cost(p, what); },
        [this] { return clock() + longest_ > end_; });
    const Trial& found = *std::min_element(trials_.begin(), trials_.end(),
                                           [](const Trial& a, const Trial& b) { return a.total < b.total; });
    runs::report(session_, report(found));
    if (!std::isfinite(found.total))
      throw Error(fmt::format("none of {} sets of parameters converged; the first: {}", trials_.size(),
                              trials_.front().failure));
    session_.write(o_.out, head(found) + toml_of(best));
    session_.info(text_of(best, lattice));
    print(session_, "{} tried; the best takes {:.3g} s instead of {:.3g} s on {}\n", trials_.size(), found.total,
          trials_.front().total, domain_->device().name());
  }

 private:
  /// The time of rank 0: all decide by it.
  double clock() const {
    double time = now();
    session_.ranks().broadcast(&time, sizeof(time), 0);
    return time;
  }

  /// What the file says of itself.
  std::string head(const Trial& t) const {
    std::string text = fmt::format("# multigrid tune on {}: {} of {}", domain_->device().name(),
                                   named_.gauge.lattice().global_text(), choice_.action.name());
    for (const auto& [name, value] : texts_of(choice_.provenance))
      if (name != "action") text += fmt::format(", {} {}", name, value);
    return text + fmt::format("\n# setup {:.3g} s, a solve {:.3g} s, {} columns in all {:.3g} s\n", t.setup, t.solve,
                              o_.columns, t.total);
  }

  double cost(const MultigridParameters& p, const std::string& what) {
    const double begun = clock();
    Trial t{.parameters = p, .what = what};
    try {
      measure(t, begun);
    } catch (const TooLong&) {
      t.failure = "given up: takes longer";
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& e) {
      t.failure = e.what();
    }
    trials_.push_back(t);
    longest_ = std::max(0.5 * longest_, clock() - begun);
    const bool best = t.total < best_;
    best_ = std::min(best_, t.total);
    const auto number = [](double x) { return std::isfinite(x) ? fmt::format("{:.3f}", x) : std::string("-"); };
    print(session_, "{:>4} {:>9} {:>9.3f} {:>9.3f} {:>6}  {}{}{}\n", trials_.size(), number(t.total), t.setup, t.solve,
          t.iterations, t.what, best ? " *" : "", t.failure.empty() ? "" : ": " + t.failure);
    return t.total;
  }

  /// Setup and a solve of some columns, as long as the trial can still be the best.
  void measure(Trial& t, double begun) {
    SolveSettings settings = settings_;
    settings.multigrid = t.parameters;
    settings.options.observer = [&, this](int, double) {
      session_.look();
      if (trials_.empty()) return;  // the first one is measured whatever it takes
      const double time = clock(), least = o_.solves_alone ? 0 : best_;
      if (time > end_ || (least > 0 && time - begun > least)) throw TooLong{};
    };
    const Solver solver(choice_.action, named_.gauge, domain_, settings);
    begun = clock();
    solver.prepare(1);
    t.setup = clock() - begun;
    const int width = width_ > 0 ? width_ : columns_at_once(solver, choice_.action, o_.columns, session_);
    if (width_ == 0) draw(width, solver.basis());
    solver.prepare(width);
    const SpinorField b = b_.columns(0, width);
    SpinorField x = b.like();
    const double start = clock();
    for (const SolveReport& r : solver.solve_sources(x, b)) {
      t.iterations = std::max(t.iterations, r.iterations);
      if (!r.converged)
        throw Error(fmt::format("not converged: residual {:.1e} after {} iterations", r.residual, r.iterations));
    }
    t.solve = (clock() - start) / width;
    t.total = (o_.solves_alone ? 0 : t.setup) + o_.columns * t.solve;
  }

  void draw(int width, const BasisInfo& basis) {
    width_ = width;
    for (int n = 0; n < width; ++n) upload(independent_noise(named_.gauge.lattice(), 1, n, 4), b_, basis, n);
  }

  Json report(const Trial& best) const {
    Json j = {{"device", domain_->device().description()},
              {"gauge", named_.origin},
              {"lattice", named_.gauge.lattice().global_extent()},
              {"action", texts_of(choice_.provenance)},
              {"columns", o_.columns}};
    for (const Trial& t : trials_)
      j["trials"].push_back({{"what", t.what},
                             {"parameters", toml_of(t.parameters)},
                             {"setup", t.setup},
                             {"solve", t.solve},
                             {"iterations", t.iterations},
                             {"total", std::isfinite(t.total) ? Json(t.total) : nullptr},
                             {"best", &t == &best}});
    return j;
  }

  TuneDescription& o_;
  Session& session_;
  double end_;
  NamedGauge named_;
  ActionChoice choice_;
  SolveSettings settings_;
  DomainPointer domain_;
  SpinorField b_;
  std::vector<Trial> trials_;
  double best_ = INFINITY, longest_ = 0;  ///< longest_: what the next trial may take
  int width_ = 0;                         ///< columns that are solved for together
};

/// `60s`, or what seconds_of reads.
double budget_of(const std::string& text) {
  return seconds_of(text.ends_with('s') ? text.substr(0, text.size() - 1) : text, "--within");
}

void run(TuneDescription& o, Session& session) {
  precisions_of(o.solve.precision, 2);
  const double budget = budget_of(o.within);
  session.claim({{"out", o.out}}, {{"gauge", o.action.gauge}, {"mg", o.solve.multigrid}});
  Tuning(o, session, budget)();
}

}  // namespace

namespace commands {
extern constinit const Command multigrid = {
    .name = "multigrid",
    .help = "Search parameters of multigrid within a budget",
    .place = 140,
    .uses = Session::reads | Session::computes | Session::reports | Session::replaces,
    .make = task<TuneDescription>};
}

}  // namespace quarksmith::runs
