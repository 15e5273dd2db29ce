#include "runs/measured_correlator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "solvers/measure/baryons.hpp"

namespace quarksmith::runs {

using Kind = Refusal::Kind;

void CorrelatorTable::list(Members& members) {
  auto add = members.of(*this);
  list_kind(add);
  add("momenta", Member::Integers{&momenta_, 3, true}, "a list of [nx, ny, nz] (default: only 0, 0, 0)")
      .range(-most_momentum, most_momentum)
      .recent();
  add("largest_square", largest_square_, "in their place all with n^2 up to it").range(0, most_momentum).recent();
  add("average", average_, "the mean over equivalent momenta");
}

void CorrelatorTable::check() {
  if (given("momenta") && given("largest_square"))
    refuse(Kind::contradicts, "momenta", "and largest_square both choose momenta; give one of them");
}

MomentumGroups CorrelatorTable::momenta(const SpaceSymmetry& symmetry) const {
  std::vector<Momentum> all = {{0, 0, 0}};
  if (given("largest_square")) all = momenta_up_to(static_cast<int>(largest_square_));
  if (given("momenta")) all.resize(momenta_.size() / 3);
  if (given("momenta"))
    for (std::size_t n = 0; n < momenta_.size(); ++n) all[n / 3][n % 3] = static_cast<int>(momenta_[n]);
  MomentumGroups m;
  for (const Momentum& p : all) {
    const auto group = average_ ? equivalents_of(p, symmetry) : std::vector<Momentum>{p};
    if (std::find(m.names.begin(), m.names.end(), group.back()) != m.names.end()) continue;
    m.names.push_back(group.back());
    m.groups.push_back(group);
  }
  return m;
}

Member& CorrelatorTable::list_propagator(Members::Adder& add, std::string& name) const {
  return add("quark", name, "a propagator").required().among(plan.names_of_propagators());
}

Member& CorrelatorTable::list_meson(Members::Adder& add, std::vector<std::string>& names) const {
  return add("quarks", names, "two propagators").required().count(2, 2).among(plan.names_of_propagators());
}

Member& CorrelatorTable::list_baryon(Members::Adder& add, Member::Texts& names) const {
  return add("quarks", Member::Target(&names), "the propagator of each quark line: {u = \"l\", d = \"l\", s = \"s\"}")
      .required()
      .count(1)
      .among(plan.names_of_propagators());
}

Member& CorrelatorTable::list_gammas(Members::Adder& add, std::vector<std::string>& gammas) {
  return add("gammas", gammas, "same (sixteen, the same at both ends), all (256 pairs), or \"g5\" or \"sink,source\"")
      .count(1)
      .parsed([](const std::string& text) {
        if (text != "same" && text != "all") gamma_pair_of(text);
      });
}

Member& CorrelatorTable::list_chosen(Members::Adder& add, const char* key, std::vector<std::string>& chosen,
                                     const std::vector<std::string>& names) {
  chosen = names;
  return add(key, chosen, "some of them (default: all)").count(1).among(names).recent();
}

std::vector<int> CorrelatorTable::nodes(const std::vector<std::string>& names) const {
  std::vector<int> all;
  for (const std::string& name : names) all.push_back(node(name));
  return all;
}

CorrelatorTable::BaryonLines CorrelatorTable::lines_of(const Member::Texts& quarks, const char* key,
                                                       const std::vector<std::string>& names) const {
  BaryonLines lines;
  for (const auto& [letter, name] : quarks) {
    lines.letters += letter;
    lines.nodes.push_back(node(name));
  }
  std::string used;
  for (const std::string& name : names) try {
      used += lines_of_baryon(name);
    } catch (const UnknownName& e) {
      refuse(Kind::word, key, fmt::format(": {}", e.what()));
    }
  for (const char letter : used)
    if (!quarks.contains(std::string(1, letter)))
      refuse(Kind::contradicts, key,
             fmt::format("needs a quark {}, of which quarks has no propagator; add it", letter));
  for (const auto& [letter, name] : quarks)
    if (letter.size() != 1 || used.find(letter) == std::string::npos)
      refuse(Kind::contradicts, "quarks", fmt::format("has '{}', which no interpolator has; leave it out", letter));
  return lines;
}

GammaPair gamma_pair_of(const std::string& text) {
  const auto ends = split(text, ',');
  const auto number_of = [&](const std::string& name) {
    if (const auto number = meson_number(name); number && ends.size() <= 2) return *number;
    throw UnknownName(fmt::format("'{}' is no gamma; {}use {}", printable(name), suggestion(name, meson_names()),
                                  fmt::join(meson_names(), ", ")));
  };
  return {number_of(ends[0]), number_of(ends.back())};
}

std::vector<GammaPair> gamma_pairs_of(const std::vector<std::string>& gammas) {
  std::vector<GammaPair> pairs;
  for (const std::string& text : gammas) {
    if (text != "same" && text != "all") pairs.push_back(gamma_pair_of(text));
    for (int sink = 0; sink < 16; ++sink)
      for (int source = 0; source < 16; ++source)
        if (text == "all" || (text == "same" && sink == source)) pairs.push_back({sink, source});
  }
  return pairs;
}

std::vector<int> places_of(const std::vector<std::string>& chosen, const std::vector<std::string>& names) {
  std::vector<int> places;
  for (const std::string& one : chosen)
    places.push_back(static_cast<int>(std::find(names.begin(), names.end(), one) - names.begin()));
  return places;
}

bool has_conserved_current(const Action& action) {
  const ActionInfo& info = action.info();
  const auto weight = [&](int mu, int side) { return action.values().complex(info.weight[mu][side]); };
  if (info.hopping != "wilson" || info.flavours != 1) return false;
  for (int mu = 0; mu < directions; ++mu)
    for (int side = 0; side < 2; ++side)
      if (weight(mu, side) != weight(0, 0)) return false;
  if (info.chain.empty()) return true;
  const auto are = [&](const ActionNumber& number, double value) {
    const auto all = action.values().of_slices(number);
    return std::all_of(all.begin(), all.end(), [&](const Complex64& z) { return z == value; });
  };
  return are(info.b, 1) && are(info.c, 0) && are(info.beta, -1);
}

namespace {

/// \throws UsageError propagators are of other quarks than a kind, or do not begin at the same sites.
void require_together(const TableReader& table, const MeasurePlan& plan, const MeasureCorrelator& c, bool staggered) {
  const auto source_of = [&](int node) -> const MeasureSource& { return plan.sources[plan.nodes[node].source]; };
  for (const int node : c.sequential >= 0 ? plan.nodes[c.sequential].sequential->inputs : c.propagators)
    if (plan.staggered(node) != staggered)
      table.refuse(Kind::contradicts, "kind",
                   fmt::format("kind {} is of {} quarks, propagator '{}' is not; use {}", c.kind,
                               staggered ? "staggered" : "Dirac", plan.nodes[node].name,
                               staggered ? "meson or baryon" : "staggered-meson or staggered-nucleon"));
  for (const int node : c.propagators) {
    const MeasureSource &first = source_of(c.propagators[0]), &other = source_of(node);
    if (first.drawn != other.drawn || (first.drawn && first.seed != other.seed) || first.positions != other.positions)
      table.fail(fmt::format("sources '{}' and '{}' of its propagators are at different sites; give both the same",
                             first.name, other.name));
  }
}

/// Directions of derivatives, which are not like the others.
void add_derivatives(const QuarkSmearing& how, SpaceSymmetry& symmetry) {
  for (int mu = 0; mu < 3; ++mu)
    symmetry.add_component(mu, how.kind != nullptr && how.kind->antihermitian && how.values[0].whole == unsigned(mu));
  for (const QuarkSmearing& next : how.then) add_derivatives(next, symmetry);
}

/// Of all that a correlator is made of: extents, boundaries and hops of quarks, momenta of sources and sinks.
SpaceSymmetry symmetry_of(const MeasurePlan& plan, const MeasureCorrelator& c, const Lattice& lattice) {
  SpaceSymmetry symmetry;
  for (int mu = 0; mu < 3; ++mu) symmetry.add(mu, lattice.global_extent(mu));
  const auto add_momentum = [&](const Momentum& p) {
    for (int mu = 0; mu < 3; ++mu) symmetry.add_component(mu, p[mu]);
  };
  const auto add_quark = [&](int quark) {
    const Action& action = plan.quarks[quark].action;
    const ActionInfo& info = action.info();
    for (int mu = 0; mu < 3; ++mu) {
      const Complex64 phase = action.setting().boundary[mu];
      symmetry.add_component(mu, phase.real() - 1);
      symmetry.add_component(mu, phase.imag());
      for (int side = 0; info.hopping == "wilson" && side < 2; ++side)
        symmetry.add(mu, std::abs(action.values().complex(info.weight[mu][side])));
    }
  };
  if (c.loop) add_quark(c.loop->quark);
  std::vector<int> nodes = c.propagators;
  if (c.sequential >= 0) {
    const SequentialSource& at_sink = *plan.nodes[c.sequential].sequential;
    nodes.insert(nodes.end(), at_sink.inputs.begin(), at_sink.inputs.end());
    add_momentum(at_sink.momentum);
  }
  for (const int n : nodes) {
    const PropagatorNode& node = plan.nodes[n];
    const MeasureSource& source = plan.sources[node.source];
    add_quark(node.quark);
    add_momentum(source.momentum);
    add_derivatives(source.smearing, symmetry);
    add_derivatives(node.sink, symmetry);
  }
  return symmetry;
}

}  // namespace

MeasureCorrelator read_correlator(TableReader& table, const std::string& name, MeasurePlan& plan,
                                  const Lattice& lattice) {
  MeasureCorrelator c;
  c.name = name;
  c.kind = table.word("kind", names_of<MeasuredCorrelator>());
  const auto all = listed<MeasuredCorrelator>();
  const MeasuredCorrelator& kind = **std::find_if(all.begin(), all.end(), [&](auto* k) { return k->name == c.kind; });
  if (plan.propagators.empty() && c.kind != "loop")
    table.fail("there is no [[propagator]] of which it could be made; give one");
  if (plan.quarks.empty()) table.fail("there is no [[quark]] of which it could be made; give one");
  const auto keys = kind.table(plan, table);
  table.read_rest(*keys, {});
  table.locate([&] { keys->complete(c); });
  for (std::size_t n = 0; n < c.structures.size(); ++n)
    if (std::find(c.structures.begin(), c.structures.begin() + n, c.structures[n]) != c.structures.begin() + n)
      table.fail(fmt::format("'{}' is there twice; name it once", c.structures[n]));
  require_together(table, plan, c, kind.staggered);
  const SpaceSymmetry symmetry = symmetry_of(plan, c, lattice);
  c.momenta = keys->momenta(symmetry);
  if (keys->averages() && !symmetry.is_whole()) table.note("average", "true, over momenta that are equivalent here");
  return c;
}

}  // namespace quarksmith::runs
