// quarksmith hmc: configurations with dynamical quarks.
#include "solvers/hmc/hmc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "runs/checkpoints.hpp"
#include "runs/hmc_file.hpp"
#include "runs/hmc_report.hpp"
#include "runs/print.hpp"
#include "runs/resumable.hpp"
#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"
#include "runtime/text.hpp"
#include "solvers/hmc/replay.hpp"

namespace quarksmith::runs {
namespace {

struct HmcDescription : ResumableDescription {
  std::filesystem::path run, replay;
  std::uint64_t reversibility = 0;
  bool energies = false;

  void list(Members& members) override {
    constexpr double most = double(GaussianNoise::most_trajectories);
    auto add = members.of(*this);
    add("run", run, "RUN.toml: lattice, trajectories, monomials, integrator (docs/hmc-file.md)")
        .required()
        .positional();
    add("replay", replay, "momenta and noise from an HDF5 file, instead of drawn ones");
    add("energies", energies, "kinetic energy and actions at the start of the first trajectory, and no more");
    list_files(add, "trajectories", most,
               "continue from a file that hmc wrote, to the same bits, or auto: from the last one of --out, if there "
               "is one (default without --overwrite)");
    add("reversibility", reversibility,
        "every so many trajectories also integrate one there and back, and tell how far from the start it ends")
        .range(1, most)
        .open();
  }
  void check() override {
    ResumableDescription::check();
    if (energies) refuse_given({"out", "time_limit"}, "belongs to trajectories, which --energies does not make");
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
  if (const std::string file = o.file_to_resume(session); !file.empty()) {
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

ResumableRun::Chain chain_of(const HmcStart& start, const HmcDescription& o, const HmcSettings& d) {
  return {.one = "trajectory",
          .many = "trajectories",
          .list = "trajectories",
          .same = o.energies ? std::vector<const char*>{} : std::vector<const char*>{"lattice", "seed", "run"},
          .results = {{"lattice", d.extents},
                      {"gauge", start.origin},
                      {"seed", d.seed},
                      {"first", start.trajectories},
                      {"device", ""},
                      {"run", d.keys},
                      {"trajectories", Json::array()}},
          .resumed = start.resumed,
          .first = start.trajectories,
          .end = static_cast<std::uint64_t>(d.count),
          .inputs = {{"RUN.toml", o.run}, {"replay", o.replay}}};
}

class HmcRun final : public ResumableRun {
 public:
  HmcRun(const HmcDescription& o, HmcPlan plan, Session& session, Stops& stops)
      : HmcRun(begin(o, session, plan.description), o, std::move(plan), session, stops) {}

  Outcome energies() {
    const TrajectoryReport report = hmc_.begin(*noise_of(o_, d_, done(), session_));
    print(session_, "kinetic energy {:.17g}\n", report.kinetic[0]);
    for (std::size_t n = 0; n < hmc_.monomials().size(); ++n)
      print(session_, "action of {} {:.17g}\n", hmc_.monomials()[n]->name(), report.actions[n][0]);
    entry(done()) = json_of(report, hmc_);
    runs::report(session_, reported_);
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

  HmcRun(HmcStart start, const HmcDescription& o, HmcPlan&& plan, Session& session, Stops& stops)
      : ResumableRun(o, session, stops, chain_of(start, o, plan.description)),
        o_(o),
        d_(std::move(plan.description)),
        domain_(session.open_domain(start.gauge.lattice, d_.reach)),
        rehearsal_([this] { rehearse_hmc(o_.run, session_, *domain_); }),
        hmc_(start.gauge, domain_, std::move(plan.monomials), d_.levels, d_.length, d_.norms, d_.anisotropy,
             [&stops] { stops.look(); }) {
    reported_["device"] = domain_->device().name();
  }

  std::string step() override {
    const auto noise = noise_of(o_, d_, done(), session_);
    Json reversed;
    if (o_.reversibility > 0 && done() % o_.reversibility == 0) {
      const Reversibility r = hmc_.reversibility(*noise);
      print(session_, "trajectory {} there and back: links differ by {:.2e}, H by {:.2e}\n", done(), r.links, r.dh);
      reversed = {{"links", r.links}, {"dH", r.dh}};
    }
    const auto number = d_.metropolis ? std::optional(GaussianNoise(d_.seed, done()).uniform()) : std::nullopt;
    last_ = hmc_.trajectory(*noise, number);
    print_trajectory(done(), last_, hmc_, session_);
    Json& results = entry(done()) = json_of(last_, hmc_);
    if (!reversed.is_null()) results["reversibility"] = reversed;
    results["shares"] = shares_of(last_, hmc_, 0);
    if (std::abs(last_.dh) > absurd && !warned_) {
      warned_ = true;
      session_.warn(fmt::format("trajectory {}: dH {:+.3g} is far from 0; {}", done(), last_.dh, remedy));
    }
    accepted_ += last_.accepted;
    if (session_.after_trajectory) ends_ = session_.after_trajectory(json_text(results));
    return fmt::format("dH {:+.2e} plaquette {:.6f}", last_.dh, last_.plaquette);
  }
  HostGauge configuration() const override { return hmc_.links(); }
  ExtraRecord state() const override { return {record, Json{{"trajectories", done()}, {"run", d_.keys}}.dump()}; }
  std::string title() const override { return "hmc " + domain_->lattice().global_text(); }
  void wrote(double io) override { entry(done() - 1)["shares"] = shares_of(last_, hmc_, io); }
  void finish() override {
    if (d_.metropolis && accepted_ == 0 && done() - first() >= few)
      session_.warn(fmt::format("none of {} trajectories was accepted; {}", done() - first(), remedy));
  }

  const HmcDescription& o_;
  HmcSettings d_;
  DomainPointer domain_;
  KernelRehearsal rehearsal_;
  Hmc hmc_;
  TrajectoryReport last_;
  std::uint64_t accepted_ = 0;
  bool warned_ = false;
};

Outcome run(HmcDescription& o, Session& session) {
  Stops stops(o.time_limit, solve_patience, session);
  HmcPlan plan = read_hmc(o.run, session, [&stops] { stops.look(); });
  const HmcSettings& d = plan.description;
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
