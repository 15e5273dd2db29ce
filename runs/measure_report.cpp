#include "runs/measure_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runs/print.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith::runs {
namespace {

using MeasureJson = Json;

MeasureJson number_json(double x) { return x; }
MeasureJson number_json(const Complex64& z) { return {z.real(), z.imag()}; }

/// Numbers as nested lists.
template <class Number>
MeasureJson nested(const Number*& at, std::span<const std::uint64_t> extent) {
  MeasureJson list = MeasureJson::array();
  for (std::uint64_t n = 0; n < extent[0]; ++n)
    list.push_back(extent.size() == 1 ? number_json(*at++) : nested(at, extent.subspan(1)));
  return list;
}

MeasureJson attribute_json(const ProvenanceValue& value) {
  return std::visit(
      []<class T>(const T& x) -> MeasureJson {
        if constexpr (std::is_same_v<T, std::vector<Complex64>>) {
          MeasureJson list = MeasureJson::array();
          for (const Complex64& z : x) list.push_back(number_json(z));
          return list;
        } else {
          return x;
        }
      },
      value);
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
  for (const Complex64& phase : named.gauge.phase)
    if (phase != 1.0)
      session.info(
          fmt::format("{}: the boundary condition of quarks is that of the run, not the phase of the file", c.gauge));
  return named;
}

void print_graph(const MeasurePlan& plan, const ConfigurationList& list, const Lattice& lattice,
                 const std::vector<double>& seconds, Session& session) {
  const auto steps = schedule(plan.graph(lattice));
  print(session, "{} configurations of {}, {} positions of the sources on each\n", list.all.size(),
        lattice.global_text(), plan.positions());
  for (const GraphStep& step : steps) {
    std::vector<std::string> freed;
    for (const int n : step.freed)
      if (n < static_cast<int>(plan.nodes.size())) freed.push_back(name_of_node(plan, n));
    print(session, "{:>10.1f} MiB  {}{}\n", mebibytes(step.bytes), node_text(plan, step.node, lattice),
          freed.empty() ? "" : fmt::format("; frees {}", fmt::join(freed, ", ")));
  }
  if (plan.fixing) print(session, "links are put into a gauge before\n");
  for (const MeasureObservable& o : plan.observables) print(session, "{:>14}  {} '{}'\n", "", o.kind, o.name);
  print(session, "{} solves in all; propagators take {:.1f} MiB at most on a rank\n",
        plan.solves(lattice) * static_cast<long long>(list.all.size()), mebibytes(peak_bytes(steps)));
  for (std::size_t n = 0; n < seconds.size(); ++n) {
    const long long columns = plan.solves(lattice, static_cast<int>(n)) * static_cast<long long>(list.all.size());
    print(session, "quark '{}': an iteration of a column takes {:.3g} s: {} columns take {} for each 100 iterations\n",
          plan.quarks[n].name, seconds[n], columns, duration_text(100 * static_cast<double>(columns) * seconds[n]));
  }
}

MeasureJson graph_json(const MeasurePlan& plan, const ConfigurationList& list, const Lattice& lattice,
                       const std::vector<double>& seconds) {
  const auto steps = schedule(plan.graph(lattice));
  MeasureJson order = MeasureJson::array();
  for (const GraphStep& step : steps) {
    MeasureJson freed = MeasureJson::array();
    for (const int n : step.freed) freed.push_back(name_of_node(plan, n));
    order.push_back({{"makes", name_of_node(plan, step.node)}, {"bytes", step.bytes}, {"frees", freed}});
  }
  MeasureJson times = MeasureJson::object();
  for (std::size_t n = 0; n < seconds.size(); ++n) times[plan.quarks[n].name] = seconds[n];
  return {{"lattice", lattice.global_extent()},
          {"configurations", list.all.size()},
          {"positions", plan.positions()},
          {"solves", plan.solves(lattice) * static_cast<long long>(list.all.size())},
          {"seconds_per_iteration", times},
          {"peak_bytes", peak_bytes(steps)},
          {"steps", order}};
}

MeasureJson json_head(const MeasurePlan& plan) {
  return {{"run", plan.keys}, {"configurations", MeasureJson::array()}};
}

MeasureJson json_of(const Record& record) {
  MeasureJson j = MeasureJson::object();
  for (const auto& [key, value] : record.attributes) j[key] = attribute_json(value);
  for (const RecordArray& array : record.arrays) {
    MeasureJson entry = MeasureJson::object();
    for (const auto& [key, value] : array.attributes) entry[key] = attribute_json(value);
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

}  // namespace quarksmith::runs
