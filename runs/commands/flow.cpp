// quarksmith flow: the gradient flow of a configuration, with energy density and topological charge.
#include <fmt/format.h>

#include "runs/command.hpp"
#include "runs/flow.hpp"
#include "runs/print.hpp"
#include "runs/stops.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

Json entry(const FlowPoint& p) {
  return {{"t", p.time},
          {"plaquette_energy", p.plaquette_energy},
          {"clover_energy", p.clover_energy},
          {"t2e_plaquette", p.time * p.time * p.plaquette_energy},
          {"t2e_clover", p.time * p.time * p.clover_energy},
          {"t2e_improved", p.time * p.time * p.improved_energy()},
          {"charge", p.charge}};
}

Json flow_json(const FlowDescription& o, const FlowResult& r) {
  Json table = Json::array();
  for (const FlowPoint& p : r.points) table.push_back(entry(p));
  Json j = {{"lattice", r.lattice},
            {"gauge", r.origin},
            {"action", o.action},
            {"step", o.schedule.step},
            {"tolerance", o.schedule.tolerance},
            {"steps", r.work.steps},
            {"precision", o.precision},
            {"device", r.device},
            {"flow", table},
            {"seconds_per_step", r.seconds_per_step()}};
  for (const FlowScale& scale : r.scales) j[scale.name] = scale.value;
  return j;
}

}  // namespace

void FlowDescription::list(Members& members) {
  auto add = members.of(*this);
  add("gauge", gauge, "configuration, or unit:..., weak:..., hot:... as for propagator").required().positional();
  add("action", action, "wilson, or symanzik: 5/3 of plaquettes, -1/12 of rectangles").among({"wilson", "symanzik"});
  add("step", schedule.step, "of the third-order Runge-Kutta scheme, at most 0.5; with --tol the first");
  add("tol", schedule.tolerance,
      "steps of such a size that the scheme of second order differs by this (0: all are --step)");
  add("time", schedule.end, "flow time to reach, without --tol a multiple of --step");
  add("every", schedule.every, "flow time between measurements, without --tol a multiple of --step");
  add("precision", precision, "of the links").among({"double"});
  add("out", out, "write the links at the end to this file");
  list_format(add, format, "out");
  add("lattice", lattice, "extents X,Y,Z,T, for formats that do not record them");
}

namespace commands {
extern constinit const Command flow = {
    .name = "flow",
    .help = "Gradient flow of the Wilson or Symanzik action: energy density, topological charge",
    .place = 80,
    .uses = Session::reads | Session::computes | Session::shares | Session::reports | Session::replaces |
            Session::colourful,
    .make = task<FlowDescription>,
    .leaves = "gauge"};
}

FlowResult run(FlowDescription& o, Session& session) {
  enter(o, session, commands::flow);
  if (const std::string problem = o.schedule.problem(o.called("")); !problem.empty()) throw UsageError(problem);
  if (o.out.empty() && !o.format.empty())
    throw UsageError(o.called("format") + " belongs to " + o.called("out") + " FILE; leave it out");
  const std::string format = o.out.empty() ? "" : output_format(o.out, o.format);
  session.claim({{"out", o.out}}, {{"GAUGE", o.gauge}});
  const NamedGauge named = open_gauge(o.gauge, o.lattice, session);
  const DomainPointer domain = session.open_domain(named.gauge.lattice());
  GradientFlow flow(named.gauge, domain, o.action == "symanzik" ? FlowAction::symanzik : FlowAction::wilson);
  FlowResult r{.lattice = named.gauge.lattice().global_extent(),
               .origin = named.origin,
               .device = domain->device().description()};
  print(session, "{:>8} {:>16} {:>16} {:>14} {:>14} {:>10}\n", "t", "E (plaquette)", "E (clover)", "t^2 E (plaq)",
        "t^2 E (clover)", "Q");
  r.work = flow_along(flow, o.schedule, [&](const FlowPoint& p) {
    session.look();
    r.points.push_back(p);
    print(session, "{:>8.4f} {:>16.10f} {:>16.10f} {:>14.10f} {:>14.10f} {:>10.6f}\n", p.time, p.plaquette_energy,
          p.clover_energy, p.time * p.time * p.plaquette_energy, p.time * p.time * p.clover_energy, p.charge);
  });
  r.scales = flow_scales(r.points);
  std::erase_if(r.scales, [](const FlowScale& scale) { return scale.value == 0; });
  for (const FlowScale& scale : r.scales) print(session, "{}: {:.6f}\n", scale.name, scale.value);
  if (r.work.steps > 0)
    print(session, "{} steps of the {} flow on {} in {}: {:.6f} s a step\n", r.work.steps, o.action,
          named.gauge.lattice().global_text(), o.precision, r.seconds_per_step());
  if (!o.out.empty() || session.in_memory) {
    r.gauge = flow.links();
    r.gauge->phase = named.gauge.phase();
    if (!o.out.empty()) write_gauge(session.output(o.out), *r.gauge, format, output_bits(format));
  }
  report(session, flow_json(o, r));
  return r;
}

}  // namespace quarksmith::runs
