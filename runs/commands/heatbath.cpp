// quarksmith heatbath: quenched configurations.
#include <fmt/format.h>

#include "runs/checkpoints.hpp"
#include "runs/command.hpp"
#include "runs/heatbath.hpp"
#include "runs/markov_run.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

constexpr int most_sweeps = 100000000;

int colours_in(const Session& session) { return session.colours > 0 ? session.colours : 3; }

/// Where a run begins, and the file that this is of, if it is ours.
struct HeatbathStart {
  HostGauge gauge;
  HeatbathState state;
  std::string resumed = {};
};

/// \throws UsageError a configuration of --out is of another run than this command line.
void require_same_run(const std::string& file, const HostGauge& gauge, const HeatbathState& s,
                      const HeatbathDescription& o, const Session& session) {
  const auto compare = [&](const char* option, const auto& was, const auto& is) {
    if (was != is)
      throw UsageError(
          fmt::format("{}: was written by a run with {} {}, not {}; choose another --out PREFIX, or begin "
                      "anew with --overwrite",
                      file, option, was, is));
  };
  compare("--lattice", gauge.lattice.global_text(), Lattice(four_integers(o.lattice, "--lattice")).global_text());
  compare("--colours", gauge.colours(), colours_in(session));
  compare("--beta", s.beta, o.state.beta);
  compare("--seed", s.seed, o.state.seed);
  compare("--overrelax", s.overrelax, o.state.overrelax);
  compare("--start", s.start, o.state.start);
  if (s.sweeps >= o.sweeps)
    throw UsageError(
        fmt::format("{}: {} of {} sweeps are done; use more --sweeps, another --out PREFIX, or --overwrite "
                    "to begin anew",
                    file, s.sweeps, o.sweeps));
}

/// Start of a run: from scratch, the last configuration of --out, or that of --resume.
HeatbathStart begin_of(const HeatbathDescription& o, Session& session) {
  const bool named = !o.resume.empty() && o.resume != "auto";
  if (!named && o.lattice.empty()) throw UsageError("heatbath needs --lattice X,Y,Z,T, or --resume FILE");
  const std::string file = o.file_to_resume(session);
  if (file.empty()) {
    const Lattice local = session.partition().local_lattice(four_integers(o.lattice, "--lattice"));
    return {start_gauge(o.state.start, local, o.state.seed, colours_in(session)), o.state};
  }
  if (named) {
    const std::string why = "comes from the file of " + o.called("resume") + "; leave it out";
    o.refuse_given({"lattice", "beta", "start", "overrelax", "seed"}, why);
    session.refuse_given({"colours"}, why);
  }
  const HeatbathState state = state_of(read_state(file, heatbath_record, "heatbath", !named), file);
  HeatbathStart start{read_gauge(file, {}, true, session.partition()).gauge, state, file};
  if (!named) {
    require_same_run(file, start.gauge, state, o, session);
    session.info(fmt::format("goes on from {}", file));
  }
  return start;
}

MarkovRun::Chain chain_of(const HeatbathStart& start, const HeatbathDescription& o, const Session& session) {
  const HeatbathState& s = start.state;
  const bool goes_on = o.goes_on(session);  // --sweeps count from the start then
  return {.one = "sweep",
          .many = "sweeps",
          .list = "plaquettes",
          .same = {"lattice", "colours", "beta", "seed", "start", "overrelax"},
          .results = {{"lattice", start.gauge.lattice.global_extent()},
                      {"colours", start.gauge.colours()},
                      {"beta", s.beta},
                      {"seed", s.seed},
                      {"start", s.start},
                      {"overrelax", s.overrelax},
                      {"first", s.sweeps},
                      {"plaquettes", Json::array()}},
          .resumed = start.resumed,
          .first = s.sweeps,
          .end = goes_on ? o.sweeps : s.sweeps + o.sweeps,
          .from_first = !goes_on};
}

class Heatbath final : public MarkovRun {
 public:
  Heatbath(const HeatbathDescription& o, Session& session, Stops& stops)
      : Heatbath(begin_of(o, session), o, session, stops) {}

  HeatbathResult operator()() {
    work();
    r_.gauge = left();
    return std::move(r_);
  }

 private:
  Heatbath(HeatbathStart start, const HeatbathDescription& o, Session& session, Stops& stops)
      : MarkovRun(o, session, stops, chain_of(start, o, session)),
        domain_(session.open_domain(start.gauge.lattice)),
        run_(start.gauge, domain_, start.state),
        r_{start.gauge.lattice.global_extent(), start.gauge.colours(), start.state} {}

  std::string advance() override {
    run_.sweep();
    r_.state = run_.state();
    r_.plaquettes.push_back(r_.plaquette = run_.averages().plaquette);
    r_.seconds_per_sweep = seconds() / double(r_.plaquettes.size());
    return fmt::format("sweep {} plaquette {:.6f}", r_.state.sweeps, r_.plaquette);
  }
  HostGauge configuration() const override { return run_.configuration(); }
  ExtraRecord state() const override { return {heatbath_record, state_text(run_.state())}; }
  std::string title() const override { return "heatbath " + named(); }
  std::string named() const { return fmt::format("{} beta {}", domain_->lattice().global_text(), r_.state.beta); }
  void add_to(Json& report) const override {
    for (const double plaquette : r_.plaquettes) report["plaquettes"].push_back(plaquette);
    report["sweeps"] = done();
    report["plaquette"] = r_.plaquette;
    report["seconds_per_sweep"] = r_.seconds_per_sweep;
  }
  void conclude() override {
    if (r_.plaquettes.empty()) r_.plaquette = run_.averages().plaquette;
    print(session_, "{}: {} sweeps, plaquette {:.8f}, {:.4g} s a sweep on {}\n", named(), done(), r_.plaquette,
          r_.seconds_per_sweep, domain_->device().name());
  }

  DomainPointer domain_;
  HeatbathRun run_;
  HeatbathResult r_;
};

}  // namespace

void HeatbathDescription::list(Members& members) {
  auto add = members.of(*this);
  add("lattice", lattice, "extents X,Y,Z,T");
  add("beta", state.beta, "2 N/g^2");
  add("start", state.start, "cold, hot or weak:EPS").offers(std::array{"cold", "hot", "weak:"});
  add("sweeps", sweeps, "sweeps to do").required().range(0, most_sweeps).open();
  add("overrelax", state.overrelax, "microcanonical passes a sweep").range(0, 1000);
  add("seed", state.seed, "of the random numbers");
  list_files(add, "sweeps", most_sweeps,
             "do --sweeps more from a file that heatbath wrote, to the same bits, or auto: those left of --sweeps, "
             "from the last file of --out, if there is one (default without --overwrite)");
}

namespace commands {
extern constinit const Command heatbath = {
    .name = "heatbath",
    .help = "Make quenched SU(N) configurations with the Wilson plaquette action",
    .place = 50,
    .uses = Session::computes | Session::shares | Session::reports | Session::replaces | Session::colourful,
    .make = task<HeatbathDescription>,
    .leaves = "gauge"};
}

HeatbathResult run(HeatbathDescription& o, Session& session) {
  enter(o, session, commands::heatbath);
  Stops stops(o.time_limit, 0, session);
  return Heatbath(o, session, stops)();
}

}  // namespace quarksmith::runs
