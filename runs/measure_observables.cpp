#include "runs/measure_observables.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "solvers/gauge/gradient_flow.hpp"
#include "solvers/gauge/link_smearing.hpp"
#include "solvers/measure/loops.hpp"

namespace quarksmith::runs {
namespace {

std::string read_smear_space(TableReader& table) {
  const std::string smearing = table.text("smear_space", "");
  if (!smearing.empty()) try {
      link_smearing_of(smearing);
    } catch (const UsageError& e) {
      table.fail(table.find("smear_space")->line, fmt::format("smear_space: {}", e.what()));
    }
  return smearing;
}

void read_plaquette(TableReader&, const Lattice&, MeasureObservable& o) {
  o.measure = [](const ObservablePlace& place) {
    const GaugeAverages g = gauge_averages(place.gauge, place.domain);
    return RecordArray{"",
                       {3},
                       std::vector<double>{g.plaquette, g.space_plaquette, g.time_plaquette},
                       {{"axes", "(all, space, time)"}}};
  };
}

void read_polyakov(TableReader&, const Lattice&, MeasureObservable& o) {
  o.measure = [](const ObservablePlace& place) {
    return RecordArray{"", {4}, polyakov_loops(*place.links("")), {{"axes", "direction"}}};
  };
}

int shortest_side(const Lattice& l) { return std::min({l.global_extent(0), l.global_extent(1), l.global_extent(2)}); }

void read_polyakov_correlator(TableReader& table, const Lattice& lattice, MeasureObservable& o) {
  const int space = static_cast<int>(table.integer("space", 0, shortest_side(lattice)));
  o.measure = [=](const ObservablePlace& place) {
    return RecordArray{"",
                       {static_cast<std::uint64_t>(space) + 1},
                       polyakov_correlator(*place.links(""), space),
                       {{"axes", "space, from 0"}}};
  };
}

void read_diagonal_loops(TableReader& table, const Lattice& lattice, MeasureObservable& o) {
  const int time = static_cast<int>(table.integer("time", 1, lattice.global_extent(3)));
  const std::string smearing = read_smear_space(table);
  o.measure = [=](const ObservablePlace& place) {
    return RecordArray{"",
                       {static_cast<std::uint64_t>(time)},
                       diagonal_loops(*place.links(smearing), *place.links(""), time),
                       {{"axes", "time, from 1"}}};
  };
}

void read_wilson_loops(TableReader& table, const Lattice& lattice, MeasureObservable& o) {
  const int space = static_cast<int>(table.integer("space", 1, shortest_side(lattice)));
  const int time = static_cast<int>(table.integer("time", 1, lattice.global_extent(3)));
  const std::string smearing = read_smear_space(table);
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

void read_flow(TableReader& table, const Lattice&, MeasureObservable& o) {
  FlowSchedule schedule;
  const FlowAction action =
      table.word("action", {"wilson", "symanzik"}, "wilson") == "wilson" ? FlowAction::wilson : FlowAction::symanzik;
  schedule.step = table.positive("step", schedule.step);
  schedule.end = table.positive("time");
  schedule.every = table.positive("every", schedule.every);
  if (table.has("tol")) schedule.tolerance = table.positive("tol");
  if (const std::string problem = schedule.problem(); !problem.empty()) table.fail(problem);
  o.measure = [=](const ObservablePlace& place) {
    GradientFlow flow(place.gauge, place.domain, find_precision("double"), action);
    std::vector<FlowPoint> points;
    std::vector<double> all;
    const FlowWork work = flow_along(flow, schedule, [&](const FlowPoint& p) {
      points.push_back(p);
      const double square = p.time * p.time;
      all.insert(all.end(), {p.time, p.plaquette_energy, p.clover_energy - p.space_energy, p.space_energy,
                             square * p.clover_energy, p.charge, square * p.improved_energy()});
      place.look();
    });
    RecordArray array{"",
                      {points.size(), 7},
                      std::move(all),
                      {{"axes", "point (t, E of plaquettes, E_time, E_space, t^2 E, charge, t^2 E improved)"},
                       {"steps", static_cast<long long>(work.steps)}}};
    for (const FlowScale& scale : flow_scales(points)) array.attributes[scale.name] = scale.value;
    return array;
  };
}

struct KindOfObservable {
  const char* name;
  void (*read)(TableReader& table, const Lattice& lattice, MeasureObservable& o);
};
constexpr KindOfObservable observable_kinds[] = {{"plaquette", read_plaquette},
                                                 {"polyakov", read_polyakov},
                                                 {"polyakov-correlator", read_polyakov_correlator},
                                                 {"wilson-loops", read_wilson_loops},
                                                 {"diagonal-loops", read_diagonal_loops},
                                                 {"flow", read_flow}};

}  // namespace

MeasureObservable read_observable(TableReader& table, const Lattice& lattice) {
  MeasureObservable o;
  std::vector<std::string> names;
  for (const KindOfObservable& kind : observable_kinds) names.emplace_back(kind.name);
  o.kind = table.word("kind", names);
  for (const KindOfObservable& kind : observable_kinds)
    if (o.kind == kind.name) kind.read(table, lattice, o);
  return o;
}

GaugeFixing read_gauge_fixing(TableReader table, const std::filesystem::path& folder, FixingFiles& files) {
  GaugeFixing g;
  g.condition =
      table.word("condition", {"coulomb", "landau"}) == "coulomb" ? GaugeCondition::coulomb : GaugeCondition::landau;
  g.boost = table.number("boost", g.boost);
  if (!(g.boost >= 1 && g.boost < 2))
    table.fail(table.find("boost")->line, fmt::format("boost = {}; use a number from 1 to below 2", g.boost));
  g.tolerance = table.positive("tol", g.tolerance);
  g.most_steps = static_cast<int>(table.integer("max_steps", 1, 1 << 30, g.most_steps));
  for (const auto& [key, prefix] : {std::pair{"out", &files.links}, {"transformation", &files.transformation}})
    if (const std::string given = table.text(key, ""); !given.empty()) *prefix = (folder / given).string();
  g.keep = !files.transformation.empty();
  table.done();
  return g;
}

}  // namespace quarksmith::runs
