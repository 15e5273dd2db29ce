// quarksmith heatbath: quenched configurations.
#include "solvers/gauge/heatbath.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/configuration_writer.hpp"
#include "runs/earlier.hpp"
#include "runs/stops.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

constexpr int most_sweeps = 100000000;

int colours_in(const Session& session) { return session.colours > 0 ? session.colours : 3; }

struct HeatbathDescription : Description {
  std::string lattice, out, resume, time_limit;
  HeatbathState state;
  std::uint64_t sweeps = 0, save_every = 0;

  /// Whether it goes on from the last configuration of --out, if there is one; --sweeps count from the start then.
  bool goes_on(const Session& session) const {
    return !out.empty() && (resume == "auto" || (resume.empty() && !session.overwrite));
  }

  void list(Members& members) override {
    auto add = members.of(*this);
    add("lattice", lattice, "extents X,Y,Z,T");
    add("beta", state.beta, "2 N/g^2");
    add("start", state.start, "cold, hot or weak:EPS").offers(std::array{"cold", "hot", "weak:"});
    add("sweeps", sweeps, "sweeps to do").required().range(0, most_sweeps).open();
    add("overrelax", state.overrelax, "microcanonical passes a sweep").range(0, 1000);
    add("seed", state.seed, "of the random numbers");
    add("save_every", save_every, "also write a configuration every so many sweeps").range(1, most_sweeps).open();
    add("out", out, "write PREFIX_<sweeps>.ildg");
    add("resume", resume,
        "do --sweeps more from a file that heatbath wrote, to the same bits, or auto: those left of --sweeps, from "
        "the last file of --out, if there is one (default without --overwrite)");
    add("time_limit", time_limit,
        "stop with configuration and JSON written within this time: SECONDS, MM:SS or HH:MM:SS");
  }
};

/// Where a run begins, and the file that this is of, if it is ours.
struct HeatbathStart {
  HostGauge gauge;
  HeatbathState state;
  std::string resumed = {};
};

HeatbathState state_in(const std::string& file, const HeatbathDescription& o, const Session& session) {
  return state_of(read_state(file, heatbath_record, "heatbath", o.goes_on(session)), file);
}

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
HeatbathStart begin(const HeatbathDescription& o, Session& session) {
  if (o.resume.empty() || o.resume == "auto") {
    if (o.lattice.empty()) throw UsageError("heatbath needs --lattice X,Y,Z,T, or --resume FILE");
    if (const auto last = o.goes_on(session) ? last_configuration(o.out, session.ranks()) : std::nullopt) {
      const HeatbathState state = state_in(last->path.string(), o, session);
      HeatbathStart start{read_gauge(last->path, {}, true, session.partition()).gauge, state, last->path.string()};
      require_same_run(start.resumed, start.gauge, start.state, o, session);
      session.info(fmt::format("goes on from {}", start.resumed));
      return start;
    }
    const Lattice part = session.partition().part(four_integers(o.lattice, "--lattice"));
    return {start_gauge(o.state.start, part, o.state.seed, colours_in(session)), o.state};
  }
  const std::string why = "comes from the file of " + o.called("resume") + "; leave it out";
  o.refuse_given({"lattice", "beta", "start", "overrelax", "seed"}, why);
  session.refuse_given({"colours"}, why);
  const HeatbathState state = state_in(o.resume, o, session);
  return {read_gauge(o.resume, {}, true, session.partition()).gauge, state, o.resume};
}

/// One run of the command. What it has told, in `result_`, begins with what an earlier part of it did.
class Heatbath {
 public:
  Heatbath(HeatbathDescription& o, Session& session, Stops& stops)
      : o_(o),
        session_(session),
        stops_(stops),
        start_(begin(o, session)),
        first_(start_.state.sweeps),
        end_(o.goes_on(session) ? o.sweeps : first_ + o.sweeps),
        saved_(first_),
        result_(told_before()),
        prefix_(claim()),
        domain_(session_.open_domain(start_.gauge.lattice)),
        run_(start_.gauge, domain_, start_.state),
        writer_(session, o.out, of_configurations(), [this](std::uint64_t number, double seconds) {
          saved_ = number;
          stops_.wrote(seconds);
          say();
        }) {}

  Outcome operator()() {
    if (o_.out.empty() && !session_.in_memory) session_.info("configurations are not kept: that takes --out PREFIX");
    say();
    const double begun = now();
    double longest = 0;
    {
      Progress progress(fmt::format("heatbath {} beta {}", start_.gauge.lattice.global_text(), start_.state.beta),
                        double(end_ - first_), session_);
      while (done() < end_ && !stops_.due(longest)) {
        const double at = now();
        run_.sweep();
        const double plaquette = run_.averages().plaquette;
        longest = std::max(longest, now() - at);
        result_["plaquettes"][done() - 1 - result_["first"].get<std::uint64_t>()] = plaquette;
        progress.show(double(done() - first_), fmt::format("sweep {} plaquette {:.6f}", done(), plaquette));
        writer_.look();
        if (o_.save_every > 0 && (done() - counted_from()) % o_.save_every == 0 && done() < end_) save(now() - begun);
        say();
      }
    }
    const double seconds = now() - begun;
    print(session_, "{} beta {}: {} sweeps, plaquette {:.8f}, {:.4g} s a sweep on {}\n",
          start_.gauge.lattice.global_text(), start_.state.beta, done(), run_.averages().plaquette, each(seconds),
          domain_->device().name());
    save(seconds);
    writer_.wait();
    Outcome left;
    if (session_.in_memory) left.gauge = run_.configuration();
    if (done() == end_) return left;
    stops_.end();
    if (done() == first_)
      throw Error(fmt::format("--time-limit {}: no sweep was finished in this time; give more", o_.time_limit));
    session_.warn("--time-limit: " + kept());
    return left;
  }

 private:
  std::uint64_t done() const { return run_.state().sweeps; }
  std::uint64_t counted_from() const { return o_.goes_on(session_) ? 0 : first_; }
  double each(double seconds) const { return done() > first_ ? seconds / double(done() - first_) : 0; }

  /// The JSON so far: that of an earlier part of this run, or a new one.
  Json told_before() {
    const HeatbathState& s = start_.state;
    Json told = {{"lattice", start_.gauge.lattice.global_extent()},
                 {"colours", start_.gauge.colours()},
                 {"beta", s.beta},
                 {"seed", s.seed},
                 {"start", s.start},
                 {"overrelax", s.overrelax}};
    if (o_.goes_on(session_) || !start_.resumed.empty())
      if (auto found = earlier_json(session_.json, told, "first", "plaquettes", first_, session_.ranks())) {
        of_json_ = Existing::replace;
        return *found;
      }
    told["first"] = first_;
    told["plaquettes"] = Json::array();
    return told;
  }

  /// The files of a run: their prefix, and the last name, are its own from the start.
  PathLock claim() {
    if (o_.goes_on(session_) && of_json_ == Existing::refuse) of_json_ = Existing::resume;
    if (o_.out.empty()) {
      session_.claim({}, {}, of_json_);
      return {};
    }
    session_.claim({{"out", configuration_name(o_.out, end_), false, false, of_configurations()}}, {}, of_json_);
    for (std::uint64_t n = first_ + 1; o_.save_every > 0 && n < end_; ++n)
      if ((n - counted_from()) % o_.save_every == 0)
        Output(configuration_name(o_.out, n), of_configurations(),
               session_.ranks());  // looks now, so that none fails later
    return lock_run(o_.out, start_.resumed, session_.ranks());
  }

  Existing of_configurations() const { return o_.goes_on(session_) ? Existing::resume : session_.existing(); }

  /// Writes the JSON and begins to write the configuration: where it is, all its sweeps are told.
  /// \param seconds of all sweeps
  void save(double seconds) {
    const double begun = now();
    writer_.wait();
    const double plaquette = run_.averages().plaquette;
    result_["sweeps"] = done();
    result_["plaquette"] = plaquette;
    result_["seconds_per_sweep"] = each(seconds);
    report(session_, result_);
    if (!o_.out.empty() && (done() > saved_ || done() == end_)) {
      writer_.write(done(), end_, run_.configuration(), {{heatbath_record, state_text(run_.state())}});
    } else {
      saved_ = done();
    }
    stops_.wrote(now() - begun);
    say();
  }

  /// What there is to go on from, and how.
  std::string kept() const {
    const std::string file = saved_ == first_ ? start_.resumed : configuration_name(o_.out, saved_).string();
    return kept_text({"sweep", "sweeps", done(), saved_, end_}, o_.out, file,
                     o_.goes_on(session_) ? "the same command line"
                     : o_.resume.empty()  ? "the same command line without --overwrite"
                                          : fmt::format("--resume {} --sweeps {}", file, end_ - saved_));
  }

  void say() const { session_.say_at_end(kept()); }

  HeatbathDescription& o_;
  Session& session_;
  Stops& stops_;
  HeatbathStart start_;
  std::uint64_t first_, end_, saved_;
  Existing of_json_ = Existing::refuse;
  Json result_;
  PathLock prefix_;
  DomainPointer domain_;
  HeatbathRun run_;
  ConfigurationWriter writer_;
};

Outcome run(HeatbathDescription& o, Session& session) {
  Stops stops(o.time_limit, 0, session);
  if (o.out.empty()) o.refuse_given({"save_every"}, "belongs to " + o.called("out") + " PREFIX; leave it out");
  if (o.out.empty() && o.resume == "auto") throw UsageError("--resume auto belongs to --out PREFIX; name a file");
  return Heatbath(o, session, stops)();
}

}  // namespace

namespace commands {
extern constinit const Command heatbath = {
    .name = "heatbath",
    .help = "Make quenched SU(N) configurations with the Wilson plaquette action",
    .place = 50,
    .uses = Session::computes | Session::shares | Session::reports | Session::replaces | Session::colourful,
    .make = task<HeatbathDescription>,
    .leaves = "gauge"};
}

}  // namespace quarksmith::runs
