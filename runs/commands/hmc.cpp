// quarksmith hmc: configurations with dynamical quarks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "runs/checkpoints.hpp"
#include "runs/command.hpp"
#include "runs/hmc.hpp"
#include "runs/hmc_file.hpp"
#include "runs/markov_run.hpp"
#include "runtime/error.hpp"
#include "runtime/rehearsal.hpp"
#include "runtime/text.hpp"
#include "solvers/hmc/fermion_monomials.hpp"
#include "solvers/hmc/replay.hpp"

namespace quarksmith::runs {
namespace {

/// LIME record in which a configuration keeps its state.
constexpr const char* record = "quarksmith-hmc";

/// The links at the start, how many trajectories led to them, and the file that they are of, if those were ours.
struct HmcStart {
  GaugeLinks gauge;
  std::string origin;
  std::uint64_t trajectories = 0;
  std::string resumed = {};
};

std::uint64_t trajectories_of(const std::string& file, const HmcDescription& o, const Session& session,
                              const HmcSettings& d) {
  const std::string text = read_state(file, record, "hmc", o.goes_on(session));
  const char* instead = o.goes_on(session) ? "choose another --out PREFIX, or begin anew with --overwrite"
                                           : "leave --resume out, and name it as the gauge of [lattice]";
  const auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("trajectories") || !j["trajectories"].is_number_unsigned() ||
      j["trajectories"].get<std::uint64_t>() >= GaussianNoise::most_trajectories || !keys_in(j.value("run", Json())))
    throw Error(fmt::format("{}: its record {} is damaged", file, record));
  if (const std::string other = differences(*keys_in(j["run"]), d.keys); !other.empty())
    throw UsageError(
        fmt::format("{}: was written by another run than {}: {}; {}", file, o.run.string(), other, instead));
  const std::uint64_t done = j["trajectories"], end = static_cast<std::uint64_t>(d.count);
  if (done >= end)
    throw UsageError(fmt::format("{}: {} of count = {} trajectories are done; use a larger count{}", file, done, end,
                                 o.goes_on(session) ? ", another --out PREFIX, or --overwrite to begin anew" : ""));
  return done;
}

HmcStart begin_of(const HmcDescription& o, Session& session, const HmcSettings& d) {
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
  } else if (!is_generated(name) && links_in_memory(name, session) == nullptr) {
    name = (o.run.parent_path() / d.gauge).string();
    session.reading("gauge", name);
  }
  const bool of_file = !is_generated(name) && links_in_memory(name, session) == nullptr;
  NamedGauge found = open_gauge(name, of_file ? lattice : "", session);
  if (found.gauge.lattice().global_extent() != d.extents)
    throw UsageError(
        fmt::format("{}: [lattice]: gauge = \"{}\" is a {} lattice, but extents = [{}]; give both the same",
                    o.run.string(), d.gauge, found.gauge.lattice().global_text(), fmt::join(d.extents, ", ")));
  HostGauge links = found.gauge;
  links.phase = {1, 1, 1, 1};
  return {std::move(links), std::move(found.origin)};
}

std::unique_ptr<Noise> noise_of(const HmcDescription& o, const HmcSettings& d, std::uint64_t trajectory,
                                Session& session) {
  if (o.replay.empty()) return std::make_unique<GaussianNoise>(d.seed, trajectory);
  return std::make_unique<ReplayNoise>(o.replay, static_cast<int>(trajectory), session.ranks());
}

MarkovRun::Chain chain_of(const HmcStart& start, const HmcDescription& o, const HmcSettings& d) {
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

/// Of the time of a trajectory and of the files that were written after it. The rest is that of momenta and links.
Json shares_of(const HmcTrajectory& t, const Hmc& hmc) {
  double solves = 0, forces = 0, gauge = 0;
  for (std::size_t n = 0; n < t.work.size(); ++n) {
    const MonomialWork& work = t.work[n];
    solves += work.solve_seconds;
    (hmc.monomials()[n]->of_quarks() ? forces : gauge) += work.seconds - work.solve_seconds;
  }
  const double all = t.seconds + t.io;
  return {{"solves", solves / all}, {"forces", forces / all}, {"gauge", gauge / all}, {"io", t.io / all}};
}

/// An entry of --json (docs/files.md).
Json json_of(const HmcTrajectory& t, const Hmc& hmc) {
  Json j = {{"kinetic", t.kinetic}, {"actions", Json::object()}};
  const auto& monomials = hmc.monomials();
  for (std::size_t n = 0; n < monomials.size(); ++n) j["actions"][monomials[n]->name()] = t.actions[n];
  const bool whole = t.kinetic.size() > 1;
  if (whole) {
    j["dH"] = t.dh;
    j["accepted"] = t.accepted;
    j["forces"] = Json::object();
    for (std::size_t n = 0; n < monomials.size(); ++n) {
      auto& list = j["forces"][monomials[n]->name()] = Json::array();
      for (const double norm2 : t.forces[n]) list.push_back({{"norm2", norm2}});
    }
  }
  j["plaquette"] = t.plaquette;
  if (!whole) return j;
  for (std::size_t n = 0; n < monomials.size(); ++n)
    j["work"][monomials[n]->name()] = {{"iterations", t.work[n].iterations},       {"seconds", t.work[n].seconds},
                                       {"solve_seconds", t.work[n].solve_seconds}, {"fallbacks", t.work[n].fallbacks},
                                       {"refreshes", t.work[n].refreshes},         {"damped", t.work[n].damped}};
  j["seconds"] = t.seconds;
  if (t.reversibility) j["reversibility"] = {{"links", t.reversibility->links}, {"dH", t.reversibility->dh}};
  j["shares"] = shares_of(t, hmc);
  return j;
}

/// One line a trajectory.
void print_trajectory(std::uint64_t number, const TrajectoryReport& report, const Hmc& hmc, Session& session) {
  std::string line = fmt::format("trajectory {}: dH {:+.6e} {}, plaquette {:.8f}, {:.3g} s", number, report.dh,
                                 report.accepted ? "accepted" : "rejected", report.plaquette, report.seconds);
  const auto& monomials = hmc.monomials();
  for (std::size_t n = 0; n < monomials.size(); ++n) {
    const MonomialWork& work = report.work[n];
    line += fmt::format("; {} {} iterations {:.3g} s", monomials[n]->name(), work.iterations, work.seconds);
    if (work.fallbacks > 0) line += fmt::format(" ({} fallbacks)", work.fallbacks);
    if (work.refreshes > 0) line += fmt::format(" (vectors made or adapted {} times)", work.refreshes);
    if (work.damped > 0) line += fmt::format(", {} projections damped", work.damped);
  }
  session.print(line + "\n");
  std::fflush(stdout);  // whoever follows a log, or reads that of a killed run, has every trajectory
}

class HmcRun final : public MarkovRun {
 public:
  HmcRun(const HmcDescription& o, HmcPlan plan, Session& session, Stops& stops)
      : HmcRun(begin_of(o, session, plan.description), o, std::move(plan), session, stops) {}

  HmcResult operator()() {
    if (o_.energies)
      energies();
    else
      work();
    r_.gauge = left();
    return std::move(r_);
  }

 private:
  static constexpr std::uint64_t few = 5;  ///< trajectories of which one at least is accepted
  static constexpr double absurd = 1000;   ///< |dH|: nothing is accepted there, or everything
  static constexpr const char* remedy =
      "look at the steps of the integrator, at tol_force, and for kind rational at its range and functions; "
      "--reversibility 1 tells whether solves are exact enough";

  HmcRun(HmcStart start, const HmcDescription& o, HmcPlan&& plan, Session& session, Stops& stops)
      : MarkovRun(o, session, stops, chain_of(start, o, plan.description)),
        o_(o),
        d_(std::move(plan.description)),
        domain_(session.open_domain(start.gauge.lattice(), d_.reach)),
        rehearsal_([this] { rehearse_hmc(o_.run, session_, *domain_); }),
        hmc_(start.gauge, domain_, std::move(plan.monomials), d_.levels, d_.length, d_.norms, d_.anisotropy,
             [&stops] { stops.look(); }),
        r_{d_.extents, start.origin, domain_->device().name(), d_.keys, start.trajectories} {
    for (const auto& monomial : hmc_.monomials()) r_.monomials.push_back(monomial->name());
  }

  void energies() {
    const HmcTrajectory& t =
        r_.trajectories.emplace_back(HmcTrajectory{hmc_.begin(*noise_of(o_, d_, done(), session_))});
    print(session_, "kinetic energy {:.17g}\n", t.kinetic[0]);
    for (std::size_t n = 0; n < r_.monomials.size(); ++n)
      print(session_, "action of {} {:.17g}\n", r_.monomials[n], t.actions[n][0]);
    report();
  }
  std::string advance() override {
    const auto noise = noise_of(o_, d_, done(), session_);
    HmcTrajectory t;
    if (o_.reversibility > 0 && done() % o_.reversibility == 0) {
      t.reversibility = hmc_.reversibility(*noise);
      print(session_, "trajectory {} there and back: links differ by {:.2e}, H by {:.2e}\n", done(),
            t.reversibility->links, t.reversibility->dh);
    }
    const auto number = d_.metropolis ? std::optional(GaussianNoise(d_.seed, done()).uniform()) : std::nullopt;
    static_cast<TrajectoryReport&>(t) = hmc_.trajectory(*noise, number);
    print_trajectory(done(), t, hmc_, session_);
    if (std::abs(t.dh) > absurd && !warned_) {
      warned_ = true;
      session_.warn(fmt::format("trajectory {}: dH {:+.3g} is far from 0; {}", done(), t.dh, remedy));
    }
    accepted_ += t.accepted;
    if (session_.after_trajectory) ends_ = session_.after_trajectory(json_text(json_of(t, hmc_)));
    r_.trajectories.push_back(std::move(t));
    return fmt::format("dH {:+.2e} plaquette {:.6f}", r_.trajectories.back().dh, r_.trajectories.back().plaquette);
  }
  HostGauge configuration() const override { return hmc_.links(); }
  ExtraRecord state() const override { return {record, Json{{"trajectories", done()}, {"run", d_.keys}}.dump()}; }
  std::string title() const override { return "hmc " + domain_->lattice().global_text(); }
  void add_to(Json& report) const override {
    report["device"] = r_.device;
    for (const HmcTrajectory& t : r_.trajectories) report["trajectories"].push_back(json_of(t, hmc_));
  }
  void wrote(double io) override {
    if (!r_.trajectories.empty()) r_.trajectories.back().io = io;
  }
  void conclude() override {
    if (d_.metropolis && accepted_ == 0 && done() - first() >= few)
      session_.warn(fmt::format("none of {} trajectories was accepted; {}", done() - first(), remedy));
  }

  const HmcDescription& o_;
  HmcSettings d_;
  DomainPointer domain_;
  KernelRehearsal rehearsal_;
  Hmc hmc_;
  HmcResult r_;
  std::uint64_t accepted_ = 0;
  bool warned_ = false;
};

}  // namespace

void HmcDescription::list(Members& members) {
  constexpr double most = double(GaussianNoise::most_trajectories);
  auto add = members.of(*this);
  add("run", run, "RUN.toml: lattice, trajectories, monomials, integrator (docs/hmc-file.md)").required().positional();
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

void HmcDescription::check() {
  MarkovDescription::check();
  if (energies) refuse_given({"out", "time_limit"}, "belongs to trajectories, which --energies does not make");
}

namespace commands {
extern constinit const Command hmc = {.name = "hmc",
                                      .help = "Make configurations with dynamical quarks by hybrid Monte Carlo",
                                      .place = 60,
                                      .uses = Session::reads | Session::computes | Session::shares | Session::crosses |
                                              Session::reports | Session::replaces,
                                      .make = task<HmcDescription>,
                                      .leaves = "gauge"};
}

HmcResult run(HmcDescription& o, Session& session) {
  enter(o, session, commands::hmc);
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
  try {
    return run();
  } catch (const Stopped&) {  // of energies
    stops.end();
    throw;
  }
}

}  // namespace quarksmith::runs
