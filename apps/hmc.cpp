// quarksmith hmc: configurations with dynamical quarks.
#include "solvers/hmc/hmc.hpp"

#include <fmt/format.h>

#include <fstream>

#include "apps/hmc_file.hpp"
#include "apps/interrupt.hpp"
#include "apps/options.hpp"
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

/// What must be the same when a run goes on: the file but for the number of trajectories.
std::string digest_of(const HmcDescription& d, const std::vector<std::unique_ptr<Monomial>>& monomials) {
  std::string text = fmt::format("{} {:.17g} {}", d.seed, d.length, d.metropolis);
  for (const IntegratorLevel& l : d.levels)
    text += fmt::format(" {} {} {} {:.17g}", int(l.scheme), l.momenta_first, l.steps, l.lambda);
  for (const auto& m : monomials) text += " " + m->name();
  return text;
}

/// The links at the start, and how many trajectories led to them.
struct Start {
  HostGauge gauge;
  std::string origin;
  std::uint64_t trajectories = 0;
};

std::uint64_t trajectories_of(const HmcOptions& o, const std::string& state) {
  const std::string text = read_lime_text(o.resume, record);
  if (text.empty())
    throw UsageError(
        fmt::format("{}: has no record {}; only files written by `quarksmith hmc` can be resumed", o.resume, record));
  const auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("trajectories") || !j["trajectories"].is_number_unsigned() ||
      j["trajectories"].get<std::uint64_t>() >= GaussianNoise::most_trajectories || !j.contains("state") ||
      !j["state"].is_string())
    throw Error(fmt::format("{}: its record {} is damaged", o.resume, record));
  if (j["state"] != state)
    throw UsageError(
        fmt::format("{}: was written by another run than {} ('{}', now '{}'); leave --resume out, and name "
                    "it as its gauge",
                    o.resume, o.run.string(), printable(j["state"].get<std::string>()), state));
  return j["trajectories"];
}

Start begin(const HmcOptions& o, const HmcDescription& d, const std::string& state) {
  const std::string lattice = fmt::format("{},{},{},{}", d.extents[0], d.extents[1], d.extents[2], d.extents[3]);
  if (!o.resume.empty()) {
    const std::uint64_t done = trajectories_of(o, state);
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
                                       {"damped", report.work[n].damped}};
  j["seconds"] = report.seconds;
  return j;
}

/// One line a trajectory.
void print(std::uint64_t number, const TrajectoryReport& report, const Hmc& hmc) {
  std::string line = fmt::format("trajectory {}: dH {:+.6e} {}, plaquette {:.8f}, {:.3g} s", number, report.dh,
                                 report.accepted ? "accepted" : "rejected", report.plaquette, report.seconds);
  const auto& monomials = hmc.monomials();
  for (std::size_t n = 0; n < monomials.size(); ++n) {
    const MonomialWork& work = report.work[n];
    line += fmt::format("; {} {} iterations {:.3g} s", monomials[n]->name(), work.iterations, work.seconds);
    if (work.damped > 0) line += fmt::format(", {} projections damped", work.damped);
  }
  fmt::print("{}\n", line);
}

void save(const HmcOptions& o, const Hmc& hmc, std::uint64_t trajectories, const std::string& state, bool last) {
  const auto path = configuration_name(o.out, trajectories);
  const std::vector<ExtraRecord> extra = {
      {record, nlohmann::ordered_json{{"trajectories", trajectories}, {"state", state}}.dump()}};
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
  HmcPlan plan = read_hmc(o.run);
  const HmcDescription d = plan.description;
  const std::string state = digest_of(d, plan.monomials);
  if (o.out.empty() && o.save_every > 0) throw UsageError("--save-every belongs to --out PREFIX; leave it out");
  if (o.energies && !o.out.empty()) throw UsageError("--out belongs to trajectories, which --energies does not make");
  const Start start = begin(o, d, state);
  const std::uint64_t first = start.trajectories, end = static_cast<std::uint64_t>(d.count);
  if (first >= end)
    throw UsageError(
        fmt::format("{}: {} of count = {} trajectories are done; use a larger count", o.resume, first, end));
  const PathLock prefix = claim(o, first, end);
  const auto domain = o.common.open_domain(start.gauge.lattice, d.reach);
  Hmc hmc(start.gauge, domain, std::move(plan.monomials), d.levels, d.length);
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
    const double number = d.metropolis ? GaussianNoise(d.seed, n).uniform() : 0;
    const TrajectoryReport report = hmc.trajectory(*noise, number);
    print(n, report, hmc);
    result["trajectories"].push_back(json_of(report, hmc));
    if (!reversed.is_null()) result["trajectories"].back()["reversibility"] = reversed;
    progress.show(double(n + 1 - first), fmt::format("dH {:+.2e} plaquette {:.6f}", report.dh, report.plaquette));
    if (!o.out.empty() && o.save_every > 0 && (n + 1) % o.save_every == 0 && n + 1 < end)
      save(o, hmc, n + 1, state, false);
  }
  if (!o.out.empty()) save(o, hmc, end, state, true);
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
