// quarksmith heatbath: quenched configurations.
#include "solvers/gauge/heatbath.hpp"

#include <fmt/format.h>

#include "apps/option_rules.hpp"
#include "runtime/error.hpp"

namespace quarksmith::apps {
namespace {

struct HeatbathOptions {
  CommonOptions common;
  std::string lattice, out, resume;
  HeatbathState state;
  std::uint64_t sweeps = 0, save_every = 0;
};

constexpr int most_sweeps = 100000000;

/// The file of a configuration after so many sweeps.
std::filesystem::path configuration_after(const std::string& prefix, std::uint64_t sweeps) {
  return fmt::format("{}_{:05}.ildg", prefix, sweeps);
}

/// The files of a run: their prefix, and the last name, are its own from the start.
PathLock claim(const HeatbathOptions& o, std::uint64_t before) {
  const std::uint64_t last = before + o.sweeps;
  if (o.out.empty()) {
    o.common.claim({});
    return {};
  }
  o.common.claim({{"--out", configuration_after(o.out, last)}});
  PathLock prefix(o.out);
  for (std::uint64_t n = o.save_every; o.save_every > 0 && n < o.sweeps; n += o.save_every)
    Output(configuration_after(o.out, before + n), o.common.existing());  // looks now, so that none fails later
  return prefix;
}

void save(const HeatbathRun& run, const std::string& prefix, const CommonOptions& common, bool last) {
  const auto path = configuration_after(prefix, run.state().sweeps);
  const std::vector<ExtraRecord> state = {{heatbath_record, state_text(run.state())}};
  if (last) {
    write_gauge(common.output(path), run.configuration(), "ildg", 64, state);
  } else {
    Output output(path, common.existing());
    write_gauge(output, run.configuration(), "ildg", 64, state);
  }
  common.info(fmt::format("wrote {}", path.string()));
}

/// Start of a run: from scratch, or the configuration and state of --resume.
std::pair<HostGauge, HeatbathState> begin(const HeatbathOptions& o, const CLI::App& command) {
  if (o.resume.empty()) {
    if (o.lattice.empty()) throw UsageError("heatbath needs --lattice X,Y,Z,T, or --resume FILE");
    const Lattice lattice(four_integers(o.lattice, "--lattice"));
    return {start_gauge(o.state.start, lattice, o.state.seed, o.common.colours > 0 ? o.common.colours : 3), o.state};
  }
  for (const char* option : {"--lattice", "--beta", "--start", "--overrelax", "--seed", "--colours"})
    if (command.count(option) > 0)
      throw UsageError(fmt::format("{} comes from the file of --resume; leave it out", option));
  const std::string record = read_lime_text(o.resume, heatbath_record);
  if (record.empty())
    throw UsageError(fmt::format("{}: has no record {}; only files written by `quarksmith heatbath` can be resumed",
                                 o.resume, heatbath_record));
  return {read_gauge(o.resume).gauge, state_of(record, o.resume)};
}

int run(const HeatbathOptions& o, const CLI::App& command) {
  o.common.require_one_rank("heatbath");
  if (o.out.empty()) refuse_options(command, {"--save-every"}, "belongs to --out PREFIX; leave it out");
  const auto [start, state] = begin(o, command);
  const PathLock prefix = claim(o, state.sweeps);
  if (!o.resume.empty()) clear_stale_lock(o.resume);
  const auto domain = std::make_shared<Domain>(start.lattice, o.common.open_device());
  HeatbathRun run(start, domain, state);
  nlohmann::ordered_json result = {{"lattice", start.lattice.extent()},
                                   {"colours", start.colours()},
                                   {"beta", state.beta},
                                   {"seed", state.seed},
                                   {"start", state.start},
                                   {"overrelax", state.overrelax}};
  const double begun = now();
  {
    Progress progress(fmt::format("heatbath {} beta {}", start.lattice.text(), state.beta), double(o.sweeps), o.common);
    for (std::uint64_t n = 1; n <= o.sweeps; ++n) {
      run.sweep();
      const double plaquette = run.averages().plaquette;
      result["plaquettes"].push_back(plaquette);
      progress.show(double(n), fmt::format("sweep {} plaquette {:.6f}", run.state().sweeps, plaquette));
      if (!o.out.empty() && o.save_every > 0 && n % o.save_every == 0 && n < o.sweeps)
        save(run, o.out, o.common, false);
    }
  }
  const GaugeAverages g = run.averages();
  const double seconds = now() - begun;
  fmt::print("{} beta {}: {} sweeps, plaquette {:.8f}, {:.4g} s a sweep on {}\n", start.lattice.text(), state.beta,
             run.state().sweeps, g.plaquette, o.sweeps > 0 ? seconds / double(o.sweeps) : 0, domain->device().name());
  if (!o.out.empty()) save(run, o.out, o.common, true);
  result["sweeps"] = run.state().sweeps;
  result["plaquette"] = g.plaquette;
  result["seconds_per_sweep"] = o.sweeps > 0 ? seconds / double(o.sweeps) : 0;
  o.common.write_json(result);
  return 0;
}

}  // namespace

void add_heatbath(CLI::App& app, int& status) {
  auto o = std::make_shared<HeatbathOptions>();
  CLI::App* c = app.add_subcommand("heatbath", "Make quenched SU(N) configurations with the Wilson plaquette action");
  c->add_option("--lattice", o->lattice, "extents X,Y,Z,T");
  c->add_option("--beta", o->state.beta, "2 N/g^2")->capture_default_str();
  c->add_option("--start", o->state.start, "cold, hot or weak:EPS")->capture_default_str();
  c->add_option("--sweeps", o->sweeps, "sweeps to do")->required()->check(CLI::Range(most_sweeps));
  c->add_option("--overrelax", o->state.overrelax, "microcanonical passes a sweep")
      ->check(CLI::Range(1000))
      ->capture_default_str();
  c->add_option("--seed", o->state.seed, "of the random numbers")->capture_default_str();
  c->add_option("--save-every", o->save_every, "also write a configuration every so many sweeps")
      ->check(CLI::Range(1, most_sweeps));
  c->add_option("--out", o->out, "write PREFIX_<sweeps>.ildg");
  c->add_option("--resume", o->resume, "continue from a file that heatbath wrote, to the same bits");
  o->common.add_to(
      *c, CommonOptions::computes | CommonOptions::reports | CommonOptions::replaces | CommonOptions::colourful);
  c->callback([o, c, &status] { status = run(*o, *c); });
}

}  // namespace quarksmith::apps
