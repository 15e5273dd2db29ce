#include "apps/measure_observables.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/gauge/gradient_flow.hpp"
#include "solvers/gauge/link_smearing.hpp"
#include "solvers/measure/loops.hpp"

namespace quarksmith::apps {
namespace {

constexpr double most_flow_step = 0.5;
constexpr int most_flow_points = 100000;

void read_plaquette(TomlReader&, const Lattice&, MeasureObservable& o) {
  o.measure = [](const ObservablePlace& place) {
    const GaugeAverages g = gauge_averages(place.gauge, place.domain);
    return RecordArray{"",
                       {3},
                       std::vector<double>{g.plaquette, g.space_plaquette, g.time_plaquette},
                       {{"axes", "(all, space, time)"}}};
  };
}

void read_polyakov(TomlReader&, const Lattice&, MeasureObservable& o) {
  o.measure = [](const ObservablePlace& place) {
    return RecordArray{"", {4}, polyakov_loops(*place.links("")), {{"axes", "direction"}}};
  };
}

void read_wilson_loops(TomlReader& table, const Lattice& lattice, MeasureObservable& o) {
  const int half = std::min({lattice.global_extent(0), lattice.global_extent(1), lattice.global_extent(2)});
  const int space = static_cast<int>(table.integer("space", 1, half));
  const int time = static_cast<int>(table.integer("time", 1, lattice.global_extent(3)));
  const std::string smearing = table.text("smear_space", "");
  if (!smearing.empty()) try {
      link_smearing_of(smearing);
    } catch (const UsageError& e) {
      table.fail(table.find("smear_space")->line, fmt::format("smear_space: {}", e.what()));
    }
  o.measure = [=](const ObservablePlace& place) {
    std::vector<double> all;
    for (const auto& row : wilson_loops(*place.links(smearing), *place.links(""), space, time))
      all.insert(all.end(), row.begin(), row.end());
    return RecordArray{"",
                       {static_cast<std::uint64_t>(space), static_cast<std::uint64_t>(time)},
                       std::move(all),
                       {{"axes", "space time, from 1"}}};
  };
}

void read_flow(TomlReader& table, const Lattice&, MeasureObservable& o) {
  const double step = table.positive("step", 0.02), end = table.positive("time"), every = table.positive("every", 0.1);
  if (step > most_flow_step)
    table.fail(table.find("step")->line,
               fmt::format("step = {}: the scheme is unstable; use at most {}", step, most_flow_step));
  const long long each = std::llround(every / step), steps = std::llround(end / step);
  if (each < 1 || std::abs(each * step - every) > 1e-9 || std::abs(steps * step - end) > 1e-9 ||
      steps / each > most_flow_points)
    table.fail(fmt::format("time = {} and every = {} are no multiples of step = {}, or more than {} points; use others",
                           end, every, step, most_flow_points));
  o.measure = [=](const ObservablePlace& place) {
    GradientFlow flow(place.gauge, place.domain, find_precision("double"));
    std::vector<FlowPoint> points = {flow.measure()};
    for (long long n = 1; n <= steps; ++n) {
      flow.step(step);
      if (n % each == 0 || n == steps) points.push_back(flow.measure());
    }
    std::vector<double> all;
    for (const FlowPoint& p : points)
      all.insert(all.end(), {p.time, p.plaquette_energy, p.clover_energy - p.space_energy, p.space_energy,
                             p.time * p.time * p.clover_energy, p.charge});
    return RecordArray{"",
                       {points.size(), 6},
                       std::move(all),
                       {{"axes", "point (t, E of plaquettes, E_time, E_space, t^2 E, charge)"},
                        {"t0", flow_scale(points)},
                        {"w0", flow_width(points)}}};
  };
}

struct KindOfObservable {
  const char* name;
  void (*read)(TomlReader& table, const Lattice& lattice, MeasureObservable& o);
};
constexpr KindOfObservable observable_kinds[] = {{"plaquette", read_plaquette},
                                                 {"polyakov", read_polyakov},
                                                 {"wilson-loops", read_wilson_loops},
                                                 {"flow", read_flow}};

}  // namespace

MeasureObservable read_observable(TomlReader& table, const Lattice& lattice) {
  MeasureObservable o;
  std::vector<std::string> names;
  for (const KindOfObservable& kind : observable_kinds) names.emplace_back(kind.name);
  o.kind = table.word("kind", names);
  for (const KindOfObservable& kind : observable_kinds)
    if (o.kind == kind.name) kind.read(table, lattice, o);
  return o;
}

GaugeFixing read_gauge_fixing(TomlReader table, std::string& out) {
  GaugeFixing g;
  g.condition =
      table.word("condition", {"coulomb", "landau"}) == "coulomb" ? GaugeCondition::coulomb : GaugeCondition::landau;
  g.boost = table.number("boost", g.boost);
  if (!(g.boost >= 1 && g.boost < 2))
    table.fail(table.find("boost")->line, fmt::format("boost = {}; use a number from 1 to below 2", g.boost));
  g.tolerance = table.positive("tol", g.tolerance);
  g.most_steps = static_cast<int>(table.integer("max_steps", 1, 1 << 30, g.most_steps));
  out = table.text("out", "");
  table.done();
  return g;
}

}  // namespace quarksmith::apps
