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

RecordArray real_array(std::vector<std::uint64_t> extent, std::vector<double> numbers, const char* axes) {
  return {"", std::move(extent), std::move(numbers), {{"axes", axes}}};
}

RecordArray measure_plaquette(const ObservablePlace& place) {
  const GaugeAverages g = gauge_averages(place.gauge, place.domain);
  return real_array({3}, {g.plaquette, g.space_plaquette, g.time_plaquette}, "(all, space, time)");
}

RecordArray measure_polyakov(const ObservablePlace& place) {
  return {"", {4}, polyakov_loops(*place.links("")), {{"axes", "direction"}}};
}

/// Of loops: the longest sides, and how the links in space are smeared.
struct LoopSizes {
  long long space = 0, time = 0;
  std::string smear_space;
};

RecordArray measure_polyakov_correlator(const ObservablePlace& place, const LoopSizes& loops) {
  return real_array({static_cast<std::uint64_t>(loops.space) + 1},
                    polyakov_correlator(*place.links(""), static_cast<int>(loops.space)), "space, from 0");
}

RecordArray measure_diagonal_loops(const ObservablePlace& place, const LoopSizes& loops) {
  return real_array(
      {static_cast<std::uint64_t>(loops.time)},
      diagonal_loops(*place.links(loops.smear_space), *place.links(""), static_cast<int>(loops.time), place.look),
      "time, from 1");
}

RecordArray measure_wilson_loops(const ObservablePlace& place, const LoopSizes& loops) {
  std::vector<double> all;
  for (const auto& row : wilson_loops(*place.links(loops.smear_space), *place.links(""), static_cast<int>(loops.space),
                                      static_cast<int>(loops.time), place.look))
    all.insert(all.end(), row.begin(), row.end());
  return real_array({static_cast<std::uint64_t>(loops.space), static_cast<std::uint64_t>(loops.time)}, std::move(all),
                    "space time, from 1");
}

struct KindOfLoops {
  const char* name;
  int least_space, least_time;  ///< -1: it has no such sides
  bool smeared;
  RecordArray (*measure)(const ObservablePlace& place, const LoopSizes& loops);
};
constexpr KindOfLoops loop_kinds[] = {{"polyakov-correlator", 0, -1, false, measure_polyakov_correlator},
                                      {"wilson-loops", 1, 1, true, measure_wilson_loops},
                                      {"diagonal-loops", -1, 1, true, measure_diagonal_loops}};

struct LoopsTable : Description {
  LoopsTable(const KindOfLoops& of, const Lattice& on) : kind(of), lattice(on) {}
  const KindOfLoops& kind;
  const Lattice& lattice;
  LoopSizes sizes;

  void list(Members& members) override {
    auto add = members.of(*this);
    const int shortest = std::min({lattice.global_extent(0), lattice.global_extent(1), lattice.global_extent(2)});
    if (kind.least_space >= 0)
      add("space", sizes.space, "longest side in space").required().range(kind.least_space, shortest);
    if (kind.least_time >= 0)
      add("time", sizes.time, "longest side in time").required().range(kind.least_time, lattice.global_extent(3));
    if (kind.smeared)
      add("smear_space", sizes.smear_space, "smears the links of the sides in space, as --smear-links")
          .parsed([](const std::string& how) {
            if (!how.empty()) link_smearing_of(how);
          });
  }
};

struct FlowTable : Description {
  FlowSchedule schedule;
  std::string action = "wilson";
  double tolerance = 0;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("action", action, "of the flow").among(std::vector<std::string>{"wilson", "symanzik"});
    add("step", schedule.step, "of the integration").above(0);
    add("time", schedule.end, "to which it runs").required().above(0);
    add("every", schedule.every, "flow time between two rows").above(0);
    add("tol", tolerance, "adaptive steps, of this error").above(0).recent();
  }
  void check() override {
    if (given("tol")) schedule.tolerance = tolerance;
    if (const std::string problem = schedule.problem(); given("time") && !problem.empty())
      refuse(Refusal::Kind::contradicts, "step", ": " + problem);
  }
};

RecordArray measure_flow(const ObservablePlace& place, const FlowSchedule& schedule, FlowAction action) {
  GradientFlow flow(place.gauge, place.domain, action);
  std::vector<FlowPoint> points;
  std::vector<double> all;
  const auto keep = [&](const FlowPoint& p) {
    points.push_back(p);
    const double square = p.time * p.time;
    all.insert(all.end(), {p.time, p.plaquette_energy, p.clover_energy - p.space_energy, p.space_energy,
                           square * p.clover_energy, p.charge, square * p.improved_energy()});
  };
  const FlowWork work = flow_along(flow, schedule, keep, place.look);
  RecordArray array = real_array({points.size(), 7}, std::move(all),
                                 "point (t, E of plaquettes, E_time, E_space, t^2 E, charge, t^2 E improved)");
  array.attributes["steps"] = static_cast<long long>(work.steps);
  for (const FlowScale& scale : flow_scales(points)) array.attributes[scale.name] = scale.value;
  return array;
}

struct FixingTable : Description {
  FixingTable(GaugeFixing& fixing, FixingFiles& to) : how(fixing), files(to) {}
  GaugeFixing& how;
  FixingFiles& files;
  std::string condition;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("condition", condition, "the gauge").required().among(std::vector<std::string>{"coulomb", "landau"});
    add("boost", how.boost, "over-relaxation").range(1, std::nextafter(2.0, 1.0));
    add("tol", how.tolerance, "of the functional").up_to(1e-4);
    add("max_steps", how.most_steps, "steps at most").range(1, 1 << 30);
    add("out", files.links, "prefix of files of the fixed links").path();
    add("transformation", files.transformation, "prefix of files of the transformation").path();
  }
};

}  // namespace

MeasureObservable read_observable(TableReader& table, const std::string& name, const Lattice& lattice) {
  std::vector<std::string> names = {"plaquette", "polyakov"};
  for (const KindOfLoops& kind : loop_kinds) names.emplace_back(kind.name);
  names.emplace_back("flow");
  MeasureObservable o{name, table.word("kind", names), {}};
  if (o.kind == "flow") {
    FlowTable keys;
    table.read_rest(keys, {});
    o.measure = [schedule = keys.schedule, action = keys.action](const ObservablePlace& place) {
      return measure_flow(place, schedule, action == "wilson" ? FlowAction::wilson : FlowAction::symanzik);
    };
  }
  for (const KindOfLoops& kind : loop_kinds)
    if (o.kind == kind.name) {
      LoopsTable keys(kind, lattice);
      table.read_rest(keys, {});
      o.measure = [&kind, sizes = keys.sizes](const ObservablePlace& place) { return kind.measure(place, sizes); };
    }
  if (o.kind == "plaquette") o.measure = measure_plaquette;
  if (o.kind == "polyakov") o.measure = measure_polyakov;
  table.done();
  return o;
}

GaugeFixing read_gauge_fixing(TableReader& table, const std::filesystem::path& folder, FixingFiles& files) {
  GaugeFixing g;
  FixingTable keys(g, files);
  table.read_rest(keys, folder);
  g.condition = keys.condition == "coulomb" ? GaugeCondition::coulomb : GaugeCondition::landau;
  g.keep = !files.transformation.empty();
  return g;
}

}  // namespace quarksmith::runs
