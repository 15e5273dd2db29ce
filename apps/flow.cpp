// quarksmith flow: the gradient flow of a configuration, with energy density and topological charge.
#include <fmt/format.h>

#include <cmath>

#include "apps/caller.hpp"
#include "apps/interrupt.hpp"
#include "apps/options.hpp"
#include "runtime/error.hpp"
#include "solvers/gauge/gradient_flow.hpp"

namespace quarksmith::apps {
namespace {

struct FlowOptions {
  CommonOptions common;
  std::string gauge, lattice, out, format, precision = "double";
  double step = 0.01, time = 1, every = 0.1;
  bool allow_non_su3 = false;
};

constexpr int most_flow_steps = 1000000;

nlohmann::ordered_json entry(const FlowPoint& p) {
  return {{"t", p.time},
          {"plaquette_energy", p.plaquette_energy},
          {"clover_energy", p.clover_energy},
          {"t2e_plaquette", p.time * p.time * p.plaquette_energy},
          {"t2e_clover", p.time * p.time * p.clover_energy},
          {"charge", p.charge}};
}

/// Steps that make up a flow time.
int steps_of(const FlowOptions& o, const char* option, double time) {
  const double step = o.step;
  if (!(step > 0) || !(o.time >= 0) || !(o.every > 0))
    throw UsageError("--step and --every must be positive, --time not negative");
  if (step > 0.5) throw UsageError(fmt::format("--step {}: the scheme is unstable; use at most 0.5", step));
  const double steps = time / step;
  if (steps > most_flow_steps)
    throw UsageError(
        fmt::format("{} {} takes more than {} steps of {}; use a larger --step", option, time, most_flow_steps, step));
  if (std::abs(steps - std::round(steps)) > 1e-9 * steps || (time > 0 && std::round(steps) < 1))
    throw UsageError(fmt::format("{} {} is no multiple of --step {}", option, time, step));
  return static_cast<int>(std::round(steps));
}

int run(const FlowOptions& o) {
  const int each = steps_of(o, "--every", o.every), steps = steps_of(o, "--time", o.time);
  if (o.out.empty() && !o.format.empty()) throw UsageError("--format belongs to --out FILE; leave it out");
  const std::string format = o.out.empty() ? "" : output_format(o.out, o.format);
  o.common.claim({{"--out", o.out}});
  const NamedGauge named = open_gauge(o.gauge, o.lattice, o.common);
  require_su3(named.gauge, o.gauge, o.allow_non_su3, o.common);
  const DomainPointer domain = o.common.open_domain(named.gauge.lattice);
  GradientFlow flow(named.gauge, domain, find_precision(o.precision));
  std::vector<FlowPoint> points;
  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  fmt::print("{:>8} {:>16} {:>16} {:>14} {:>14} {:>10}\n", "t", "E (plaquette)", "E (clover)", "t^2 E (plaq)",
             "t^2 E (clover)", "Q");
  const auto measure = [&] {
    const FlowPoint p = points.emplace_back(flow.measure());
    table.push_back(entry(p));
    fmt::print("{:>8.4f} {:>16.10f} {:>16.10f} {:>14.10f} {:>14.10f} {:>10.6f}\n", p.time, p.plaquette_energy,
               p.clover_energy, p.time * p.time * p.plaquette_energy, p.time * p.time * p.clover_energy, p.charge);
    std::fflush(stdout);
  };
  measure();
  double seconds = 0;
  for (int n = 1; n <= steps; ++n) {
    look_for_signals();
    seconds += domain->device().time([&] { flow.step(o.step); });
    if (n % each == 0 || n == steps) measure();
  }
  const double scale = flow_scale(points);
  if (scale > 0) fmt::print("t0, where t^2 E (clover) = 0.3: {:.6f}\n", scale);
  if (steps > 0)
    fmt::print("{} steps of {} on {} in {}: {:.6f} s a step\n", steps, o.step, named.gauge.lattice.global_text(),
               o.precision, seconds / steps);
  if (!o.out.empty() || caller() != nullptr) {
    HostGauge links = flow.links();
    links.phase = named.gauge.phase;
    if (!o.out.empty()) write_gauge(o.common.output(o.out), links, format, output_bits(format));
    if (caller() != nullptr) caller()->gauge = std::move(links);
  }
  nlohmann::ordered_json result = {{"lattice", named.gauge.lattice.global_extent()},
                                   {"gauge", named.origin},
                                   {"step", o.step},
                                   {"precision", o.precision},
                                   {"device", domain->device().description()},
                                   {"flow", table},
                                   {"seconds_per_step", steps > 0 ? seconds / steps : 0}};
  if (scale > 0) result["t0"] = scale;
  o.common.write_json(result);
  return 0;
}

}  // namespace

void add_flow(CLI::App& app, int& status) {
  auto o = std::make_shared<FlowOptions>();
  CLI::App* c = app.add_subcommand("flow", "Gradient flow of the Wilson action: energy density, topological charge");
  c->add_option("gauge", o->gauge, "configuration, or unit:..., weak:..., hot:... as for propagator")->required();
  c->add_option("--step", o->step, "of the third-order Runge-Kutta scheme, at most 0.5")->capture_default_str();
  c->add_option("--time", o->time, "flow time to reach, a multiple of --step")->capture_default_str();
  c->add_option("--every", o->every, "flow time between measurements, a multiple of --step")->capture_default_str();
  c->add_option("--precision", o->precision, "double or single")
      ->check(CLI::IsMember({"double", "single"}))
      ->capture_default_str();
  c->add_option("--out", o->out, "write the links at the end to this file");
  add_format(*c, o->format, "--out");
  c->add_option("--lattice", o->lattice, "extents X,Y,Z,T, for formats that do not record them");
  add_allow_non_su3(*c, o->allow_non_su3);
  o->common.add_to(*c, CommonOptions::computes | CommonOptions::shares | CommonOptions::reports |
                           CommonOptions::replaces | CommonOptions::colourful);
  c->callback([o, &status] { status = run(*o); });
}

}  // namespace quarksmith::apps
