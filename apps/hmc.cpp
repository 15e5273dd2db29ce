// quarksmith hmc: configurations with dynamical quarks.
#include "solvers/hmc/hmc.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "apps/hmc_file.hpp"
#include "apps/interrupt.hpp"
#include "apps/options.hpp"
#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "runtime/io/sha256.hpp"
#include "runtime/text.hpp"
#include "solvers/hmc/replay.hpp"

namespace quarksmith::apps {
namespace {

struct HmcOptions {
  CommonOptions common;
  std::filesystem::path run, replay;
  std::string out, resume;
  std::uint64_t save_every = 0, reversibility = 0;
  bool energies = false;
};

/// LIME record in which a configuration keeps its state.
constexpr const char* record = "quarksmith-hmc";

std::filesystem::path configuration_name(const std::string& prefix, std::uint64_t trajectories) {
  return fmt::format("{}_{:05}.ildg", prefix, trajectories);
}

/// The links at the start, and how many trajectories led to them.
struct Start {
  HostGauge gauge;
  std::string origin;
  std::uint64_t trajectories = 0;
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

std::uint64_t trajectories_of(const HmcOptions& o, const HmcDescription& run) {
  const std::string text = read_lime_text(o.resume, record);
  if (text.empty())
    throw UsageError(
        fmt::format("{}: has no record {}; only files written by `quarksmith hmc` can be resumed", o.resume, record));
  const auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("trajectories") || !j["trajectories"].is_number_unsigned() ||
      j["trajectories"].get<std::uint64_t>() >= GaussianNoise::most_trajectories || !j.contains("run") ||
      !j["run"].is_object() ||
      !std::all_of(j["run"].begin(), j["run"].end(), [](const auto& v) { return v.is_string(); }))
    throw Error(fmt::format("{}: its record {} is damaged", o.resume, record));
  if (const Keys before = j["run"]; before != run.keys)
    throw UsageError(
        fmt::format("{}: was written by another run than {}: {}; leave --resume out, and name it as the gauge of "
                    "[lattice]",
                    o.resume, o.run.string(), differences(before, run.keys)));
  return j["trajectories"];
}

Start begin(HmcOptions o, const HmcDescription& d) {
  o.common.colours = d.colours;
  const std::string lattice = fmt::format("{},{},{},{}", d.extents[0], d.extents[1], d.extents[2], d.extents[3]);
  if (!o.resume.empty()) {
    const std::uint64_t done = trajectories_of(o, d);
    NamedGauge found = open_gauge(o.resume, lattice, o.common);
    return {std::move(found.gauge), std::move(found.origin), done};
  }
  std::string name = d.gauge;
  if (name == "unit") {
    name = "unit:" + lattice;
  } else if (name == "hot" || name.starts_with("weak:")) {
    name = fmt::format("{}:{}:{}", name, lattice, d.seed);
  } else {
    name = (o.run.parent_path() / d.gauge).string();
  }
  NamedGauge found = open_gauge(name, is_generated(name) ? "" : lattice, o.common);
  found.gauge.phase = {1, 1, 1, 1};
  return {std::move(found.gauge), std::move(found.origin)};
}

nlohmann::ordered_json json_of(const TrajectoryReport& report, const Hmc& hmc) {
  nlohmann::ordered_json j = {{"kinetic", report.kinetic}, {"actions", nlohmann::ordered_json::object()}};
  const auto& monomials = hmc.monomials();
  for (std::size_t n = 0; n < monomials.size(); ++n) j["actions"][monomials[n]->name()] = report.actions[n];
  const bool whole = report.kinetic.size() > 1;
  if (whole) {
    j["dH"] = report.dh;
    j["accepted"] = report.accepted;
    j["forces"] = nlohmann::ordered_json::object();
    for (std::size_t n = 0; n < monomials.size(); ++n) {
      auto& list = j["forces"][monomials[n]->name()] = nlohmann::ordered_json::array();
      for (const double norm2 : report.forces[n]) list.push_back({{"norm2", norm2}});
    }
  }
  j["plaquette"] = report.plaquette;
  if (!whole) return j;
  for (std::size_t n = 0; n < monomials.size(); ++n)
    j["work"][monomials[n]->name()] = {{"iterations", report.work[n].iterations},
                                       {"seconds", report.work[n].seconds},
                                       {"solve_seconds", report.work[n].solve_seconds},
                                       {"fallbacks", report.work[n].fallbacks},
                                       {"damped", report.work[n].damped}};
  j["seconds"] = report.seconds;
  return j;
}

/// Of the time of a trajectory and of the files that were written after it. The rest is that of momenta and links.
nlohmann::ordered_json shares_of(const TrajectoryReport& report, const Hmc& hmc, double io) {
  double solves = 0, forces = 0, gauge = 0;
  for (std::size_t n = 0; n < report.work.size(); ++n) {
    const MonomialWork& work = report.work[n];
    solves += work.solve_seconds;
    (hmc.monomials()[n]->of_quarks() ? forces : gauge) += work.seconds - work.solve_seconds;
  }
  const double all = report.seconds + io;
  return {{"solves", solves / all}, {"forces", forces / all}, {"gauge", gauge / all}, {"io", io / all}};
}

/// One line a trajectory.
void print(std::uint64_t number, const TrajectoryReport& report, const Hmc& hmc) {
  std::string line = fmt::format("trajectory {}: dH {:+.6e} {}, plaquette {:.8f}, {:.3g} s", number, report.dh,
                                 report.accepted ? "accepted" : "rejected", report.plaquette, report.seconds);
  const auto& monomials = hmc.monomials();
  for (std::size_t n = 0; n < monomials.size(); ++n) {
    const MonomialWork& work = report.work[n];
    line += fmt::format("; {} {} iterations {:.3g} s", monomials[n]->name(), work.iterations, work.seconds);
    if (work.fallbacks > 0) line += fmt::format(" ({} fallbacks)", work.fallbacks);
    if (work.damped > 0) line += fmt::format(", {} projections damped", work.damped);
  }
  fmt::print("{}\n", line);
  std::fflush(stdout);  // whoever follows a log, or reads that of a killed run, has every trajectory
}

void save(const HmcOptions& o, const Hmc& hmc, std::uint64_t trajectories, const Keys& keys, bool last) {
  const auto path = configuration_name(o.out, trajectories);
  const std::vector<ExtraRecord> extra = {
      {record, nlohmann::ordered_json{{"trajectories", trajectories}, {"run", keys}}.dump()}};
  if (last) {
    write_gauge(o.common.output(path), hmc.links(), "ildg", 64, extra);
  } else {
    Output output(path, o.common.existing(), o.common.ranks());
    write_gauge(output, hmc.links(), "ildg", 64, extra);
  }
  o.common.info(fmt::format("wrote {}", path.string()));
}

/// The files of a run: their prefix and the last name are its own from the start.
PathLock claim(const HmcOptions& o, std::uint64_t first, std::uint64_t end) {
  const std::vector<NamedFile> inputs = {{"the run", o.run}, {"--replay", o.replay}, {"--resume", o.resume}};
  if (o.out.empty()) {
    o.common.claim({}, inputs);
    return {};
  }
  o.common.claim({{"--out", configuration_name(o.out, end)}}, inputs);
  for (std::uint64_t n = first + 1; o.save_every > 0 && n < end; ++n)
    if (n % o.save_every == 0) Output(configuration_name(o.out, n), o.common.existing(), o.common.ranks());
  return o.common.ranks().rank() == 0 ? PathLock(o.out) : PathLock();
}

std::unique_ptr<Noise> noise_of(const HmcOptions& o, const HmcDescription& d, std::uint64_t trajectory) {
  if (o.replay.empty()) return std::make_unique<GaussianNoise>(d.seed, trajectory);
  return std::make_unique<ReplayNoise>(o.replay, static_cast<int>(trajectory), o.common.ranks());
}

int run(const HmcOptions& o) {
  HmcPlan plan = read_hmc(o.run, o.common.partition());
  const HmcDescription d = plan.description;
  if (o.out.empty() && o.save_every > 0) throw UsageError("--save-every belongs to --out PREFIX; leave it out");
  if (o.energies && !o.out.empty()) throw UsageError("--out belongs to trajectories, which --energies does not make");
  for (std::size_t n = 0; n < d.levels.size(); ++n)
    if (d.metropolis && !is_reversible(d.levels[n]))
      o.common.warn(
          fmt::format("{}: integrator level {}: the scheme is not time-reversible, so that detailed balance fails; "
                      "give it an equal kick at 1 - t for each one at t",
                      o.run.string(), n + 1));
  const Start start = begin(o, d);
  const std::uint64_t first = start.trajectories, end = static_cast<std::uint64_t>(d.count);
  if (first >= end)
    throw UsageError(
        fmt::format("{}: {} of count = {} trajectories are done; use a larger count", o.resume, first, end));
  const PathLock prefix = claim(o, first, end);
  if (!o.resume.empty() && o.common.ranks().rank() == 0) clear_stale_lock(o.resume);
  const auto domain = o.common.open_domain(start.gauge.lattice, d.reach);
  Hmc hmc(start.gauge, domain, std::move(plan.monomials), d.levels, d.length, d.norms, d.anisotropy);
  nlohmann::ordered_json result = {{"lattice", d.extents},
                                   {"gauge", start.origin},
                                   {"seed", d.seed},
                                   {"first", first},
                                   {"device", domain->device().name()},
                                   {"trajectories", nlohmann::ordered_json::array()}};
  if (o.energies) {
    const TrajectoryReport report = hmc.begin(*noise_of(o, d, first));
    fmt::print("kinetic energy {:.17g}\n", report.kinetic[0]);
    for (std::size_t n = 0; n < hmc.monomials().size(); ++n)
      fmt::print("action of {} {:.17g}\n", hmc.monomials()[n]->name(), report.actions[n][0]);
    result["trajectories"].push_back(json_of(report, hmc));
    o.common.write_json(result);
    return 0;
  }
  Progress progress("hmc " + start.gauge.lattice.global_text(), double(end - first), o.common);
  for (std::uint64_t n = first; n < end; ++n) {
    look_for_signals();
    const auto noise = noise_of(o, d, n);
    nlohmann::ordered_json reversed;
    if (o.reversibility > 0 && n % o.reversibility == 0) {
      const Reversibility r = hmc.reversibility(*noise);
      fmt::print("trajectory {} there and back: links differ by {:.2e}, H by {:.2e}\n", n, r.links, r.dh);
      reversed = {{"links", r.links}, {"dH", r.dh}};
    }
    const auto number = d.metropolis ? std::optional(GaussianNoise(d.seed, n).uniform()) : std::nullopt;
    const TrajectoryReport report = hmc.trajectory(*noise, number);
    print(n, report, hmc);
    result["trajectories"].push_back(json_of(report, hmc));
    if (!reversed.is_null()) result["trajectories"].back()["reversibility"] = reversed;
    progress.show(double(n + 1 - first), fmt::format("dH {:+.2e} plaquette {:.6f}", report.dh, report.plaquette));
    const double begun = now();
    const bool last = n + 1 == end;
    if (!o.out.empty() && (last || (o.save_every > 0 && (n + 1) % o.save_every == 0)))
      save(o, hmc, n + 1, d.keys, last);
    result["trajectories"].back()["shares"] = shares_of(report, hmc, now() - begun);
  }
  o.common.write_json(result);
  return 0;
}

}  // namespace

void add_hmc(CLI::App& app, int& status) {
  auto o = std::make_shared<HmcOptions>();
  CLI::App* c = app.add_subcommand("hmc", "Make configurations with dynamical quarks by hybrid Monte Carlo");
  c->add_option("run", o->run, "RUN.toml: lattice, trajectories, monomials, integrator (docs/hmc.md)")->required();
  c->add_option("--replay", o->replay, "momenta and noise from an HDF5 file, instead of drawn ones");
  c->add_flag("--energies", o->energies,
              "kinetic energy and actions at the start of the first trajectory, and no more");
  c->add_option("--out", o->out, "write PREFIX_<trajectories>.ildg");
  c->add_option("--save-every", o->save_every, "also write a configuration every so many trajectories")
      ->check(CLI::Range(std::uint64_t(1), GaussianNoise::most_trajectories));
  c->add_option("--resume", o->resume, "continue from a file that hmc wrote, to the same bits");
  c->add_option("--reversibility", o->reversibility,
                "every so many trajectories also integrate one there and back, and tell how far from the start it ends")
      ->check(CLI::Range(std::uint64_t(1), GaussianNoise::most_trajectories));
  o->common.add_to(*c, CommonOptions::computes | CommonOptions::shares | CommonOptions::crosses |
                           CommonOptions::reports | CommonOptions::replaces);
  c->callback([o, &status] { status = run(*o); });
}

}  // namespace quarksmith::apps
