// What follows from a plan of measurements.
#include <fmt/format.h>

#include <algorithm>

#include "runs/measure_file.hpp"
#include "runtime/fields/site_random.hpp"

namespace quarksmith::runs {

std::string Configuration::label() const { return fmt::format("{:06}", number); }

int MeasureSource::coordinates() const {
  return static_cast<int>(std::count_if(kind->parameters.begin(), kind->parameters.end(),
                                        [](const ChoiceParameter& p) { return p.direction >= 0; }));
}

std::string key_of(const ChoiceParameter& parameter) {
  std::string key(parameter.name);
  std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
  return key;
}

std::vector<Coordinates> MeasureSource::positions_on(const Lattice& lattice, long long configuration) const {
  if (!drawn) return positions;
  std::vector<Coordinates> all;
  for (std::size_t n = 0; n < positions.size(); ++n) {
    Random random = stream_of({seed, static_cast<unsigned long long>(configuration)}, n);
    Coordinates x{};
    for (int mu = 0; mu < directions; ++mu) {
      const int drawn_one = static_cast<int>(random.uniform() * lattice.global_extent(mu));
      for (const ChoiceParameter& p : kind->parameters)
        if (p.direction == mu) x[mu] = drawn_one;
    }
    all.push_back(x);
  }
  return all;
}

std::uint64_t noise_seed(std::uint64_t seed, long long configuration) {
  return seed + (static_cast<std::uint64_t>(configuration) << 32);
}

SourceSettings MeasureSource::at(const Coordinates& position, const Lattice& lattice, long long configuration) const {
  std::string text(kind->name);
  char before = ':';
  for (const ChoiceParameter& p : kind->parameters) {
    const bool is_seed = p.name == seed_parameter;
    const auto given = numbers.find(key_of(p));
    if (p.name.empty() || (p.direction < 0 && !is_seed && given == numbers.end())) break;
    text += before + (is_seed            ? std::to_string(noise_seed(seed, configuration))
                      : p.direction >= 0 ? std::to_string(position[p.direction])
                                         : given->second);
    before = ',';
  }
  SourceSettings s = source_of(text, lattice);
  s.smearing = smearing;
  return s;
}

std::vector<Momentum> MomentumGroups::all() const {
  std::vector<Momentum> list;
  for (const auto& group : groups) list.insert(list.end(), group.begin(), group.end());
  return list;
}

std::vector<Complex64> MomentumGroups::averaged(const std::vector<Complex64>& sums, int count, int time) const {
  const std::size_t momenta = all().size(), extent = sums.size() / (momenta * count);
  std::vector<Complex64> means(groups.size() * count * extent);
  for (std::size_t g = 0, first = 0; g < groups.size(); first += groups[g++].size())
    for (int k = 0; k < count; ++k)
      for (std::size_t t = 0; t < extent; ++t) {
        Complex64 sum = 0;
        for (std::size_t p = first; p < first + groups[g].size(); ++p)
          sum += sums[((t + time) % extent * momenta + p) * count + k];
        means[(g * count + k) * extent + t] = sum / static_cast<double>(groups[g].size());
      }
  return means;
}

namespace {

/// All that a quark has but name and mass.
std::map<std::string, std::string> keys_but_mass(const MeasurePlan& plan, const std::string& quark) {
  const std::string before = fmt::format("quark '{}': ", quark);
  std::map<std::string, std::string> found;
  for (const auto& [key, value] : plan.keys)
    if (key.starts_with(before) && key != before + "mass") found[key.substr(before.size())] = value;
  return found;
}

/// Whether several masses of it come from one Krylov space (solvers/solve/mass_solver.hpp).
bool has_shifts(const MeasureQuark& q) {
  const std::string& precision = q.solves->solve.precision;
  const auto& parameters = q.action.info().parameters;
  const bool several = std::any_of(parameters.begin(), parameters.end(),
                                   [](const ActionParameter& p) { return p.name == "mass" && p.several; });
  return several && q.action.spins() == 1 && !q.solves->solve.given("even_odd") &&
         q.solves->solve.slice_tolerance == 0 && (q.solves->solve.solver.empty() || q.solves->solve.solver == "cg") &&
         !q.deflated() && q.smear_links().empty() && (precision == "double" || precision.starts_with("double-"));
}

}  // namespace

std::vector<std::string> MeasurePlan::names_of_propagators() const {
  std::vector<std::string> names;
  for (const auto& [name, node] : propagators) names.push_back(name);
  return names;
}

std::vector<int> MeasurePlan::solved_with(int node) const {
  const PropagatorNode& n = nodes[node];
  if (n.of >= 0 || n.sequential || !has_shifts(quarks[n.quark])) return {node};
  const auto keys_of_node = keys_but_mass(*this, quarks[n.quark].name);
  std::vector<int> found;
  for (int m = 0; m < static_cast<int>(nodes.size()); ++m)
    if (m == node ||
        (nodes[m].of < 0 && !nodes[m].sequential && nodes[m].source == n.source && has_shifts(quarks[nodes[m].quark]) &&
         keys_but_mass(*this, quarks[nodes[m].quark].name) == keys_of_node))
      found.push_back(m);
  return found;
}

int MeasurePlan::adjoint_of(int quark) {
  const MeasureQuark& q = quarks[quark];
  const Action adjoint = q.action.adjoint().value();
  if (adjoint.values() == q.action.values() && q.action.setting().source == q.action.setting().sink) return quark;
  const std::string name = q.name + " (adjoint)";
  for (std::size_t n = 0; n < quarks.size(); ++n)
    if (quarks[n].name == name) return static_cast<int>(n);
  keys[fmt::format("quark '{}': sequential", q.name)] = adjoint.values().text();  // others were of the quark itself
  quarks.push_back({name, adjoint, q.solves, true});
  return static_cast<int>(quarks.size()) - 1;
}

std::vector<GraphNode> MeasurePlan::graph(const Lattice& lattice) const {
  std::vector<GraphNode> all;
  const auto sites = static_cast<std::size_t>(lattice.sites());
  const auto add = [&all](std::vector<int> inputs, GraphNode node) {
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    node.inputs = inputs;
    all.push_back(node);
  };
  const std::size_t dirac = sites * 144 * sizeof(Complex64);
  const auto copies = [this](const PropagatorNode& n) {
    return n.on_slices ? 2 + static_cast<std::size_t>(quarks[n.quark].action.slices()) : 1;
  };
  for (const PropagatorNode& n : nodes)
    add(n.sequential ? n.sequential->inputs
        : n.of < 0   ? std::vector<int>()
                     : std::vector<int>{n.of},
        {{},
         copies(n) * sites * columns(n) * columns(n) * sizeof(Complex64),
         n.quark,
         false,
         n.sequential ? dirac : 0});
  for (const MeasureCorrelator& c : correlators) add(c.propagators, {{}, 0, -1, true, c.work * dirac});
  return all;
}

long long MeasurePlan::solves(const Lattice& lattice, int quark) const {
  long long all = 0;
  for (const PropagatorNode& n : nodes)
    if (n.of < 0 && (quark < 0 || n.quark == quark)) all += columns(n) * static_cast<long long>(positions());
  for (const MeasureCorrelator& c : correlators)
    if (c.loop && (quark < 0 || c.loop->quark == quark)) all += c.loop->count * c.loop->dilution.parts(lattice);
  return all;
}

}  // namespace quarksmith::runs
