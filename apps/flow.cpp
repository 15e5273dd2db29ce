// quarksmith flow: the gradient flow of a configuration, with energy density and topological charge.
#include <fmt/format.h>

#include "apps/caller.hpp"
#include "apps/interrupt.hpp"
#include "apps/options.hpp"
#include "runtime/error.hpp"
#include "solvers/gauge/gradient_flow.hpp"

namespace quarksmith::apps {
namespace {

struct FlowOptions {
  CommonOptions common;
  std::string gauge, lattice, out, format, precision = "double", action = "wilson";
  FlowSchedule schedule{.step = 0.01};
  bool allow_non_su3 = false;
};

nlohmann::ordered_json entry(const FlowPoint& p) {
  return {{"t", p.time},
          {"plaquette_energy", p.plaquette_energy},
          {"clover_energy", p.clover_energy},
          {"t2e_plaquette", p.time * p.time * p.plaquette_energy},
          {"t2e_clover", p.time * p.time * p.clover_energy},
          {"t2e_improved", p.time * p.time * p.improved_energy()},
          {"charge", p.charge}};
}

int run(const FlowOptions& o) {
  if (const std::string problem = o.schedule.problem("--"); !problem.empty()) throw UsageError(problem);
  if (o.out.empty() && !o.format.empty()) throw UsageError("--format belongs to --out FILE; leave it out");
  const std::string format = o.out.empty() ? "" : output_format(o.out, o.format);
  o.common.claim({{"--out", o.out}});
  const NamedGauge named = open_gauge(o.gauge, o.lattice, o.common);
  require_su3(named.gauge, o.gauge, o.allow_non_su3, o.common);
  const DomainPointer domain = o.common.open_domain(named.gauge.lattice);
  GradientFlow flow(named.gauge, domain, find_precision(o.precision),
                    o.action == "symanzik" ? FlowAction::symanzik : FlowAction::wilson);
  std::vector<FlowPoint> points;
  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  fmt::print("{:>8} {:>16} {:>16} {:>14} {:>14} {:>10}\n", "t", "E (plaquette)", "E (clover)", "t^2 E (plaq)",
             "t^2 E (clover)", "Q");
  const FlowWork work = flow_along(flow, o.schedule, [&](const FlowPoint& p) {
    look_for_signals();
    points.push_back(p);
    table.push_back(entry(p));
    fmt::print("{:>8.4f} {:>16.10f} {:>16.10f} {:>14.10f} {:>14.10f} {:>10.6f}\n", p.time, p.plaquette_energy,
               p.clover_energy, p.time * p.time * p.plaquette_energy, p.time * p.time * p.clover_energy, p.charge);
    std::fflush(stdout);
  });
  const double each = work.steps > 0 ? work.seconds / work.steps : 0;
  nlohmann::ordered_json scales = nlohmann::ordered_json::object();
  for (const FlowScale& scale : flow_scales(points)) {
    if (scale.value == 0) continue;
    scales[scale.name] = scale.value;
    fmt::print("{}: {:.6f}\n", scale.name, scale.value);
  }
  if (work.steps > 0)
    fmt::print("{} steps of the {} flow on {} in {}: {:.6f} s a step\n", work.steps, o.action,
               named.gauge.lattice.global_text(), o.precision, each);
  if (!o.out.empty() || caller() != nullptr) {
    HostGauge links = flow.links();
    links.phase = named.gauge.phase;
    if (!o.out.empty()) write_gauge(o.common.output(o.out), links, format, output_bits(format));
    if (caller() != nullptr) caller()->gauge = std::move(links);
  }
  nlohmann::ordered_json result = {{"lattice", named.gauge.lattice.global_extent()},
                                   {"gauge", named.origin},
                                   {"action", o.action},
                                   {"step", o.schedule.step},
                                   {"tolerance", o.schedule.tolerance},
                                   {"steps", work.steps},
                                   {"precision", o.precision},
                                   {"device", domain->device().description()},
                                   {"flow", table},
                                   {"seconds_per_step", each}};
  result.update(scales);
  o.common.write_json(result);
  return 0;
}

}  // namespace

void add_flow(CLI::App& app, int& status) {
  auto o = std::make_shared<FlowOptions>();
  CLI::App* c =
      app.add_subcommand("flow", "Gradient flow of the Wilson or Symanzik action: energy density, topological charge");
  c->add_option("gauge", o->gauge, "configuration, or unit:..., weak:..., hot:... as for propagator")->required();
  c->add_option("--action", o->action, "wilson, or symanzik: 5/3 of plaquettes, -1/12 of rectangles")
      ->check(CLI::IsMember({"wilson", "symanzik"}))
      ->capture_default_str();
  c->add_option("--step", o->schedule.step, "of the third-order Runge-Kutta scheme, at most 0.5; with --tol the first")
      ->capture_default_str();
  c->add_option("--tol", o->schedule.tolerance,
                "steps of such a size that the scheme of second order differs by this (0: all are --step)")
      ->capture_default_str();
  c->add_option("--time", o->schedule.end, "flow time to reach, without --tol a multiple of --step")
      ->capture_default_str();
  c->add_option("--every", o->schedule.every, "flow time between measurements, without --tol a multiple of --step")
      ->capture_default_str();
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
