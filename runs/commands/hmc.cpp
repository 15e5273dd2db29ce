// quarksmith hmc: configurations with dynamical quarks.
#include "solvers/hmc/hmc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "runs/command.hpp"
#include "runs/print.hpp"
#include "runs/configuration_writer.hpp"
#include "runs/earlier.hpp"
#include "runs/hmc_file.hpp"
#include "runs/hmc_report.hpp"
#include "runs/stops.hpp"
#include "runs/session.hpp"
#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"
#include "runtime/text.hpp"
#include "solvers/hmc/replay.hpp"

namespace quarksmith::runs {
namespace {

struct HmcDescription : Description {
  std::filesystem::path run, replay;
  std::string out, resume, time_limit;
  std::uint64_t save_every = 0, reversibility = 0;
  bool energies = false;

  /// Whether it goes on from the last configuration of --out, if there is one.
  bool goes_on(const Session& session) const {
    return !out.empty() && (resume == "auto" || (resume.empty() && !session.overwrite));
  }

  void list(Members& members) override {
    auto add = members.of(*this);
    add("run", run, "RUN.toml: lattice, trajectories, monomials, integrator (docs/hmc-file.md)")
        .required()
        .positional();
    add("replay", replay, "momenta and noise from an HDF5 file, instead of drawn ones");
    add("energies", energies, "kinetic energy and actions at the start of the first trajectory, and no more");
    add("out", out, "write PREFIX_<trajectories>.ildg");
    add("save_every", save_every, "also write a configuration every so many trajectories")
        .range(1, double(GaussianNoise::most_trajectories))
        .open();
    add("resume", resume,
        "continue from a file that hmc wrote, to the same bits, or auto: from the last one of --out, if there is "
        "one (default without --overwrite)");
    add("time_limit", time_limit,
        "stop with configuration and JSON written within this time: SECONDS, MM:SS or HH:MM:SS");
    add("reversibility", reversibility,
        "every so many trajectories also integrate one there and back, and tell how far from the start it ends")
        .range(1, double(GaussianNoise::most_trajectories))
        .open();
  }
};

/// LIME record in which a configuration keeps its state.
constexpr const char* record = "quarksmith-hmc";

/// The links at the start, how many trajectories led to them, and the file that they are of, if those were ours.
struct HmcStart {
  HostGauge gauge;
  std::string origin;
  std::uint64_t trajectories = 0;
  std::string resumed = {};
};

using Keys = std::map<std::string, std::string>;

/// In which keys two runs differ: those of one and of the other, at most so many of them.
std::string differences(const Keys& before, const Keys& now) {
  constexpr std::size_t most = 3;
  std::vector<std::string> all;
  const auto value = [](const Keys& keys, const std::string& key) {
    const auto found = keys.find(key);
    return found == keys.end() ? "missing" : found->second.empty() ? "by default" : printable(found->second);
  };
  Keys both = before;
  both.insert(now.begin(), now.end());
  for (const auto& [key, any] : both)
    if (value(before, key) != value(now, key))
      all.push_back(fmt::format("{} was {}, now {}", printable(key), value(before, key), value(now, key)));
  if (all.size() > most) {
    const std::size_t more = all.size() - most;
    all.resize(most);
    all.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

/// The file from which a run goes on; empty: it begins.
std::string file_to_resume(const HmcDescription& o, const Session& session) {
  if (!o.goes_on(session)) return o.resume;
  const auto last = last_configuration(o.out, session.ranks());
  return last ? last->path.string() : "";
}

std::uint64_t trajectories_of(const std::string& file, const HmcDescription& o, const Session& session,
                              const HmcSettings& d) {
  const std::string text = read_state(file, record, "hmc", o.goes_on(session));
  const char* instead = o.goes_on(session) ? "choose another --out PREFIX, or begin anew with --overwrite"
                                           : "leave --resume out, and name it as the gauge of [lattice]";
  const auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("trajectories") || !j["trajectories"].is_number_unsigned() ||
      j["trajectories"].get<std::uint64_t>() >= GaussianNoise::most_trajectories || !j.contains("run") ||
      !j["run"].is_object() ||
      !std::all_of(j["run"].begin(), j["run"].end(), [](const auto& v) { return v.is_string(); }))
    throw Error(fmt::format("{}: its record {} is damaged", file, record));
  if (const Keys before = with_digests(j["run"], d.keys); before != d.keys)
    throw UsageError(fmt::format("{}: was written by another run than {}: {}; {}", file, o.run.string(),
                                 differences(before, d.keys), instead));
  const std::uint64_t done = j["trajectories"], end = static_cast<std::uint64_t>(d.count);
  if (done >= end)
    throw UsageError(fmt::format("{}: {} of count = {} trajectories are done; use a larger count{}", file, done, end,
                                 o.goes_on(session) ? ", another --out PREFIX, or --overwrite to begin anew" : ""));
  return done;
}

HmcStart begin(const HmcDescription& o, Session& session, const HmcSettings& d) {
  session.colours = d.colours;
  const std::string lattice = fmt::format("{},{},{},{}", d.extents[0], d.extents[1], d.extents[2], d.extents[3]);
  if (const std::string file = file_to_resume(o, session); !file.empty()) {
    const std::uint64_t done = trajectories_of(file, o, session, d);
    NamedGauge found = open_gauge(file, lattice, session);
    if (o.goes_on(session)) session.info(fmt::format("goes on from {}", file));
    return {std::move(found.gauge), std::move(found.origin), done, file};
  }
  std::string name = d.gauge;
  if (name == "unit") {
    name = "unit:" + lattice;
  } else if (name == "hot" || (name.starts_with("weak:") && std::count(name.begin(), name.end(), ':') == 1)) {
    name = fmt::format("{}:{}:{}", name, lattice, d.seed);
  } else if (!is_generated(name)) {
    name = (o.run.parent_path() / d.gauge).string();
  }
  NamedGauge found = open_gauge(name, is_generated(name) ? "" : lattice, session);
  if (found.gauge.lattice.global_extent() != d.extents)
    throw UsageError(
        fmt::format("{}: [lattice]: gauge = \"{}\" is a {} lattice, but extents = [{}]; give both the same",
                    o.run.string(), d.gauge, found.gauge.lattice.global_text(), fmt::join(d.extents, ", ")));
  found.gauge.phase = {1, 1, 1, 1};
  return {std::move(found.gauge), std::move(found.origin)};
}

std::unique_ptr<Noise> noise_of(const HmcDescription& o, const HmcSettings& d, std::uint64_t trajectory,
                                Session& session) {
  if (o.replay.empty()) return std::make_unique<GaussianNoise>(d.seed, trajectory);
  return std::make_unique<ReplayNoise>(o.replay, static_cast<int>(trajectory), session.ranks());
}

/// One run of the command. What it has told, in `result_`, begins with what an earlier part of it did.
class HmcRun {
 public:
  HmcRun(HmcDescription& o, HmcPlan plan, Session& session, Stops& stops)
      : o_(o),
        session_(session),
        d_(plan.description),
        stops_(stops),
        start_(begin(o, session, d_)),
        end_(static_cast<std::uint64_t>(d_.count)),
        done_(start_.trajectories),
        saved_(done_),
        result_(told_before()),
        prefix_(claim()),
        domain_(session_.open_domain(start_.gauge.lattice, d_.reach)),
        rehearsal_([this] { rehearse_hmc(o_.run, session_, *domain_); }),
        hmc_(start_.gauge, domain_, std::move(plan.monomials), d_.levels, d_.length, d_.norms, d_.anisotropy,
             [&stops] { stops.look(); }),
        writer_(session_, o.out, of_configurations(), [this](std::uint64_t number, double seconds) {
          saved_ = number;
          stops_.wrote(seconds);
          say();
        }) {}

  Outcome operator()() {
    if (o_.out.empty()) session_.info("configurations are not kept: that takes --out PREFIX");
    say();
    Progress progress("hmc " + start_.gauge.lattice.global_text(), double(end_ - done_), session_);
    const std::uint64_t first = done_;
    try {
      while (done_ < end_ && !stops_.due(longest_) && !ended_by_caller_) {
        const std::string note = trajectory();
        if (session_.after_trajectory) ended_by_caller_ = session_.after_trajectory(json_text(entry(done_ - 1)));
        progress.show(double(done_ - first), note);
        writer_.look();
        if (o_.save_every > 0 && done_ % o_.save_every == 0 && done_ < end_) save();
      }
    } catch (const Stopped&) {  // the trajectory at hand is given up
    } catch (const Error& e) {
      if (session_.ranks().size() > 1) throw;  // of ranks not all may have met it
      writer_.wait();
      if (done_ == saved_) throw;
      save();
      writer_.wait();
      throw Error(fmt::format("{}; {}", e.what(), kept()));
    }
    writer_.wait();
    if (done_ > saved_ || done_ == first) save();
    writer_.wait();
    runs::report(session_, result_);  // with the time that the last file took
    Outcome left;
    if (session_.in_memory) left.gauge = hmc_.links();
    if (d_.metropolis && accepted_ == 0 && done_ - first >= few)
      session_.warn(fmt::format("none of {} trajectories was accepted; {}", done_ - first, remedy));
    if (done_ == end_ || ended_by_caller_) return left;
    stops_.end();
    if (done_ == first)
      throw Error(fmt::format("--time-limit {}: no trajectory was finished in this time; give more", o_.time_limit));
    session_.warn("--time-limit: " + kept());
    return left;
  }

  Outcome energies() {
    const TrajectoryReport report = hmc_.begin(*noise_of(o_, d_, done_, session_));
    print(session_, "kinetic energy {:.17g}\n", report.kinetic[0]);
    for (std::size_t n = 0; n < hmc_.monomials().size(); ++n)
      print(session_, "action of {} {:.17g}\n", hmc_.monomials()[n]->name(), report.actions[n][0]);
    entry(done_) = json_of(report, hmc_);
    runs::report(session_, result_);
    Outcome left;
    if (session_.in_memory) left.gauge = hmc_.links();
    return left;
  }

 private:
  static constexpr std::uint64_t few = 5;  ///< trajectories of which one at least is accepted
  static constexpr double absurd = 1000;   ///< |dH|: nothing is accepted there, or everything
  static constexpr const char* remedy =
      "look at the steps of the integrator, at tol_force, and for kind rational at its range and functions; "
      "--reversibility 1 tells whether solves are exact enough";

  /// The JSON so far: that of an earlier part of this run, or a new one.
  Json told_before() {
    const Json same = {{"lattice", d_.extents}, {"seed", d_.seed}, {"run", d_.keys}};
    if (!o_.energies && (!start_.resumed.empty() || o_.goes_on(session_)))
      if (auto found = earlier_json(session_.json, same, "first", "trajectories", done_, session_.ranks())) {
        of_json_ = Existing::replace;
        return *found;
      }
    return {
        {"lattice", d_.extents}, {"gauge", start_.origin},       {"seed", d_.seed}, {"first", done_}, {"device", ""},
        {"run", d_.keys},        {"trajectories", Json::array()}};
  }

  /// The files of a run: their prefix and the last name are its own from the start.
  PathLock claim() {
    const std::vector<NamedFile> inputs = {{"RUN.toml", o_.run}, {"replay", o_.replay}, {"resume", start_.resumed}};
    if (o_.goes_on(session_) && of_json_ == Existing::refuse) of_json_ = Existing::resume;
    if (o_.out.empty()) {
      session_.claim({}, inputs, of_json_);
      return {};
    }
    session_.claim({{"out", configuration_name(o_.out, end_), false, false, of_configurations()}}, inputs, of_json_);
    for (std::uint64_t n = done_ + 1; o_.save_every > 0 && n < end_; ++n)
      if (n % o_.save_every == 0) Output(configuration_name(o_.out, n), of_configurations(), session_.ranks());
    return lock_run(o_.out, start_.resumed, session_.ranks());
  }

  Existing of_configurations() const { return o_.goes_on(session_) ? Existing::resume : session_.existing(); }

  /// What the JSON says of a trajectory; made, if it is not there.
  Json& entry(std::uint64_t trajectory) {
    result_["device"] = domain_->device().name();
    return result_["trajectories"][trajectory - result_["first"].get<std::uint64_t>()];
  }

  /// Makes one; what is worth to show of it.
  std::string trajectory() {
    const double begun = now();
    const auto noise = noise_of(o_, d_, done_, session_);
    Json reversed;
    if (o_.reversibility > 0 && done_ % o_.reversibility == 0) {
      const Reversibility r = hmc_.reversibility(*noise);
      print(session_, "trajectory {} there and back: links differ by {:.2e}, H by {:.2e}\n", done_, r.links, r.dh);
      reversed = {{"links", r.links}, {"dH", r.dh}};
    }
    const auto number = d_.metropolis ? std::optional(GaussianNoise(d_.seed, done_).uniform()) : std::nullopt;
    last_ = hmc_.trajectory(*noise, number);
    print_trajectory(done_, last_, hmc_, session_);
    Json& told = entry(done_) = json_of(last_, hmc_);
    if (!reversed.is_null()) told["reversibility"] = reversed;
    told["shares"] = shares_of(last_, hmc_, 0);
    if (std::abs(last_.dh) > absurd && !warned_) {
      warned_ = true;
      session_.warn(fmt::format("trajectory {}: dH {:+.3g} is far from 0; {}", done_, last_.dh, remedy));
    }
    ++done_;
    accepted_ += last_.accepted;
    longest_ = std::max(longest_, now() - begun);
    say();
    return fmt::format("dH {:+.2e} plaquette {:.6f}", last_.dh, last_.plaquette);
  }

  /// Writes the JSON and begins to write the configuration: where it is, all its trajectories are told.
  void save() {
    const double begun = now();
    writer_.wait();
    runs::report(session_, result_);
    if (!o_.out.empty() && done_ > saved_) {
      writer_.write(done_, end_, hmc_.links(), {{record, Json{{"trajectories", done_}, {"run", d_.keys}}.dump()}});
      entry(done_ - 1)["shares"] = shares_of(last_, hmc_, now() - begun);
    } else {
      saved_ = done_;
    }
    stops_.wrote(now() - begun);
    say();
  }

  /// What there is to go on from, and how.
  std::string kept() const {
    const std::string file =
        saved_ == start_.trajectories ? start_.resumed : configuration_name(o_.out, saved_).string();
    return kept_text({"trajectory", "trajectories", done_, saved_, end_}, o_.out, file,
                     o_.goes_on(session_) ? "the same command line"
                     : o_.resume.empty()  ? "the same command line without --overwrite"
                                          : "--resume " + file);
  }

  void say() const { session_.say_at_end(kept()); }

  HmcDescription& o_;
  Session& session_;
  HmcSettings d_;
  Stops& stops_;
  HmcStart start_;
  std::uint64_t end_, done_, saved_;
  Existing of_json_ = Existing::refuse;
  Json result_;
  PathLock prefix_;
  DomainPointer domain_;
  KernelRehearsal rehearsal_;
  Hmc hmc_;
  ConfigurationWriter writer_;
  TrajectoryReport last_;
  std::uint64_t accepted_ = 0;
  double longest_ = 0;
  bool warned_ = false, ended_by_caller_ = false;
};

Outcome run(HmcDescription& o, Session& session) {
  Stops stops(o.time_limit, solve_patience, session);
  HmcPlan plan = read_hmc(o.run, session, [&stops] { stops.look(); });
  const HmcSettings& d = plan.description;
  if (o.out.empty() && o.save_every > 0) throw UsageError("--save-every belongs to --out PREFIX; leave it out");
  if (o.out.empty() && o.resume == "auto") throw UsageError("--resume auto belongs to --out PREFIX; name a file");
  if (o.energies && !o.out.empty()) throw UsageError("--out belongs to trajectories, which --energies does not make");
  if (o.energies && !o.time_limit.empty())
    throw UsageError("--time-limit belongs to trajectories, which --energies does not make");
  for (std::size_t n = 0; n < d.levels.size(); ++n)
    if (d.metropolis && !is_reversible(d.levels[n]))
      session.warn(
          fmt::format("{}: integrator level {}: the scheme is not time-reversible, so that detailed balance fails; "
                      "give it an equal kick at 1 - t for each one at t",
                      o.run.string(), n + 1));
  const std::vector<std::string> remarks = d.remarks;
  HmcRun run(o, std::move(plan), session, stops);
  for (const std::string& remark : remarks) session.info(remark);
  if (!o.energies) return run();
  try {
    return run.energies();
  } catch (const Stopped&) {
    stops.end();
    throw;
  }
}

}  // namespace

namespace commands {
extern constinit const Command hmc = {.name = "hmc",
                                      .help = "Make configurations with dynamical quarks by hybrid Monte Carlo",
                                      .place = 60,
                                      .uses = Session::reads | Session::computes | Session::shares | Session::crosses |
                                              Session::reports | Session::replaces,
                                      .make = task<HmcDescription>,
                                      .leaves = "gauge"};
}

}  // namespace quarksmith::runs
