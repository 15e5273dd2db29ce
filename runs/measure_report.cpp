#include "runs/measure_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runs/contraction.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith::runs {
namespace {

Json number_json(double x) { return x; }
Json number_json(const Complex64& z) { return {z.real(), z.imag()}; }

/// Numbers as nested lists.
template <class Number>
Json nested(const Number*& at, std::span<const std::uint64_t> extent) {
  Json list = Json::array();
  for (std::uint64_t n = 0; n < extent[0]; ++n)
    list.push_back(extent.size() == 1 ? number_json(*at++) : nested(at, extent.subspan(1)));
  return list;
}

std::string node_text(const MeasurePlan& plan, int node, const Lattice& lattice) {
  const int nodes = static_cast<int>(plan.nodes.size());
  if (node >= nodes) {
    const MeasureCorrelator& c = plan.correlators[node - nodes];
    if (c.loop)
      return fmt::format("loop '{}': {} noises of quark '{}', {} solves each", c.name, c.loop->count,
                         plan.quarks[c.loop->quark].name, c.loop->dilution.parts(lattice));
    return fmt::format("{} '{}': {} momenta x {} structures", c.kind, c.name, c.momenta.names.size(),
                       c.structures.size());
  }
  const PropagatorNode& n = plan.nodes[node];
  if (n.of >= 0) return fmt::format("propagator '{}': sink of '{}' smeared", n.name, plan.nodes[n.of].name);
  if (n.sequential)
    return fmt::format("sequential propagator of '{}': 12 solves of quark '{}' for its sink", n.name,
                       plan.quarks[n.quark].name);
  std::string others;
  for (const int other : plan.solved_with(node))
    if (other != node)
      others += fmt::format("{} '{}'", others.empty() ? ", together with" : ",", plan.nodes[other].name);
  return fmt::format("propagator '{}': {} solves of quark '{}' for source '{}'{}", n.name, plan.columns(n),
                     plan.quarks[n.quark].name, plan.sources[n.source].name, others);
}

std::string name_of_node(const MeasurePlan& plan, int node) {
  const int nodes = static_cast<int>(plan.nodes.size());
  if (node >= nodes) return plan.correlators[node - nodes].name;
  return (plan.nodes[node].sequential ? "sequential " : "") + plan.nodes[node].name;
}

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

NamedGauge open_configuration(const Configuration& c, const ConfigurationList& list, Session& session) {
  NamedGauge named = open_gauge(c.gauge, is_generated(c.gauge) ? "" : list.lattice, session);
  require_su3(named.gauge, c.gauge, list.allow_non_su3, session);
  for (const Complex64& phase : named.gauge.phase())
    if (phase != 1.0)
      session.info(
          fmt::format("{}: the boundary condition of quarks is that of the run, not the phase of the file", c.gauge));
  return named;
}

MeasureGraph graph_of(const MeasurePlan& plan, const ConfigurationList& list, const Lattice& lattice,
                      const std::vector<double>& seconds) {
  const auto steps = schedule(plan.graph(lattice));
  const auto all = static_cast<long long>(list.all.size());
  MeasureGraph graph{lattice.global_extent(), list.all.size(), plan.positions(), plan.solves(lattice) * all,
                     peak_bytes(steps)};
  for (std::size_t n = 0; n < seconds.size(); ++n)
    graph.quarks.push_back({plan.quarks[n].name, plan.solves(lattice, static_cast<int>(n)) * all, seconds[n]});
  for (const GraphStep& step : steps) {
    graph.steps.push_back({name_of_node(plan, step.node), node_text(plan, step.node, lattice), step.bytes, {}});
    for (const int n : step.freed) graph.steps.back().frees.push_back(name_of_node(plan, n));
  }
  return graph;
}

void print_graph(const MeasureGraph& graph, const MeasurePlan& plan, Session& session) {
  print(session, "{} configurations of {}, {} positions of the sources on each\n", graph.configurations,
        fmt::join(graph.lattice, "x"), graph.positions);
  for (const MeasureGraph::Step& step : graph.steps) {
    std::vector<std::string> others = step.frees;
    std::erase(others, step.makes);
    print(session, "{:>10.1f} MiB  {}{}{}\n", mebibytes(step.bytes), step.what, others.empty() ? "" : "; frees ",
          fmt::join(others, ", "));
  }
  if (plan.fixing) print(session, "links are put into a gauge before\n");
  for (const MeasureObservable& o : plan.observables) print(session, "{:>14}  {} '{}'\n", "", o.kind, o.name);
  print(session, "{} solves in all; propagators take {:.1f} MiB at most on a rank\n", graph.solves,
        mebibytes(graph.most_bytes));
  for (const MeasureGraph::Quark& q : graph.quarks)
    print(session, "quark '{}': an iteration of a column takes {:.3g} s: {} columns take {} for each 100 iterations\n",
          q.name, q.seconds_per_iteration, q.columns,
          duration_text(100 * static_cast<double>(q.columns) * q.seconds_per_iteration));
}

Json json_of(const MeasureGraph& graph) {
  Json steps = Json::array(), times = Json::object();
  for (const MeasureGraph::Step& step : graph.steps)
    steps.push_back({{"makes", step.makes}, {"bytes", step.bytes}, {"frees", step.frees}});
  for (const MeasureGraph::Quark& q : graph.quarks) times[q.name] = q.seconds_per_iteration;
  return {{"lattice", graph.lattice},
          {"configurations", graph.configurations},
          {"positions", graph.positions},
          {"solves", graph.solves},
          {"seconds_per_iteration", times},
          {"peak_bytes", graph.most_bytes},
          {"steps", steps}};
}

namespace {

Json json_of(const Record& record) {
  Json j = to_json(record.attributes);
  for (const RecordArray& array : record.arrays) {
    Json entry = to_json(array.attributes);
    entry["values"] = std::visit(
        [&](const auto& numbers) {
          const auto* at = numbers.data();
          return nested(at, array.extent);
        },
        array.numbers);
    if (array.name == "solves")
      j["solves"] = entry;
    else
      j["results"][array.name] = entry;
  }
  return j;
}

}  // namespace

Json json_of(const MeasureResult& result) {
  Json j = {{"run", result.keys}, {"configurations", Json::array()}};
  for (const Record& record : result.records) j["configurations"].push_back(json_of(record));
  return j;
}

}  // namespace quarksmith::runs
