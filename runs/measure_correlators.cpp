// Correlators of RUN.toml: a row for each kind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "runs/measure_lines.hpp"
#include "runtime/error.hpp"
#include "solvers/measure/baryons.hpp"
#include "solvers/measure/staggered_hadrons.hpp"

namespace quarksmith::runs {
namespace {

constexpr int most_square = 10000, most_noises = 1000000;

/// The one of equivalent momenta by which they are named: integers from the largest down, none negative.
Momentum representative(Momentum p) {
  for (int& n : p) n = std::abs(n);
  std::sort(p.begin(), p.end(), std::greater<>());
  return p;
}

MomentumGroups read_momenta(TableReader& table) {
  MomentumGroups m;
  const bool average = table.flag("average", false);
  std::vector<Momentum> all = {{0, 0, 0}};
  if (table.find("largest_square") != nullptr) {
    if (table.has("momenta"))
      table.fail(table.find("momenta")->line, "momenta and largest_square both choose momenta; give one of them");
    all = momenta_up_to(static_cast<int>(table.integer("largest_square", 0, most_square)));
  } else if (table.find("momenta") != nullptr) {
    all = momenta_of(table, "momenta");
  }
  for (const Momentum& p : all) {
    const Momentum name = average ? representative(p) : p;
    if (std::find(m.names.begin(), m.names.end(), name) != m.names.end()) continue;
    m.names.push_back(name);
    m.groups.push_back(average ? equivalents_of(p) : std::vector<Momentum>{p});
  }
  return m;
}

/// `same`: sixteen, each at both ends; `all`: all pairs; else a list of `g5` or `g5,gt`.
std::vector<GammaPair> read_gammas(TableReader& table) {
  std::vector<GammaPair> pairs;
  const Value* given = table.find("gammas");
  if (given != nullptr && !std::holds_alternative<std::string>(given->value)) {
    for (const std::string& text : table.texts("gammas")) pairs.push_back(gamma_pair_named(table, "gammas", text));
    return pairs;
  }
  const bool all = table.word("gammas", {"same", "all"}, "same") == "all";
  for (int sink = 0; sink < 16; ++sink)
    for (int source = 0; source < 16; ++source)
      if (all || sink == source) pairs.push_back({sink, source});
  return pairs;
}

/// The structures of a correlator by a key; their numbers among those there are.
std::vector<int> read_chosen(TableReader& table, const char* key, const std::vector<std::string>& known,
                             const std::vector<std::string>& names, MeasureCorrelator& c) {
  std::vector<int> chosen;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      table.fail(table.find(key)->line, fmt::format("{}: '{}' is unknown; {}use {}", key, printable(name),
                                                    suggestion(name, known), fmt::join(known, ", ")));
    chosen.push_back(static_cast<int>(found - known.begin()));
  }
  if (chosen.empty()) table.fail(table.find(key)->line, fmt::format("{} is empty; name some", key));
  c.structures = names;
  return chosen;
}

void read_meson(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c) {
  c.propagators = read_meson_lines(table, plan);
  const std::vector<GammaPair> gammas = read_gammas(table);
  for (const GammaPair& g : gammas) {
    const std::string &sink = meson_names()[g.sink], &source = meson_names()[g.source];
    c.structures.push_back(g.sink == g.source ? sink : sink + "," + source);
  }
  c.contract = [gammas](std::span<const Propagator* const> s, const ContractionPlace& place) {
    return meson_sums(*s[0], *s[1], gammas, place.phases);
  };
}

/// Those of the key `currents`, without it all.
std::vector<int> read_current_names(TableReader& table, const std::vector<std::string>& known, MeasureCorrelator& c) {
  return read_chosen(table, "currents", known, table.find("currents") != nullptr ? table.texts("currents") : known, c);
}

void read_chroma_currents(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c) {
  c.propagators = read_meson_lines(table, plan);
  c.ahead = plan.nodes[c.propagators[0]].quark;
  c.work = 2;  // what is ahead of both
  const std::string &links = plan.quarks[c.ahead].smear_links,
                    &others = plan.quarks[plan.nodes[c.propagators[1]].quark].smear_links;
  if (links != others)
    table.fail(table.find("quarks")->line,
               fmt::format("currents join the quarks by links, which are {1} for '{0}' and {3} for '{2}'; give both "
                           "the same smear_links",
                           plan.nodes[c.propagators[0]].name, links.empty() ? "not smeared" : links,
                           plan.nodes[c.propagators[1]].name, others.empty() ? "not smeared" : others));
  const std::vector<int> currents = read_current_names(table, chroma_current_names(), c);
  c.contract = [currents](std::span<const Propagator* const> s, const ContractionPlace& place) {
    return chroma_current_sums(*s[0], *s[1], currents, place.ahead_without_phase, place.phases);
  };
}

void read_wall_currents(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c) {
  c.propagators = {propagator_named(table, "quark", table.text("quark"), plan)};
  PropagatorNode& node = plan.nodes[c.propagators[0]];
  c.ahead = node.quark;
  c.work = 2;
  const Action& action = plan.quarks[node.quark].action;
  if (!action.has_midpoint() || !has_conserved_current(action))
    table.fail(table.find("quark")->line,
               fmt::format("kind wall-currents is of isotropic domain-wall quarks of Shamir's form, which '{}' is not; "
                           "use another propagator, or kind meson",
                           node.name));
  if (node.of >= 0)
    table.fail(table.find("quark")->line, fmt::format("propagator '{}' has a smeared sink, where no current is "
                                                      "conserved; use one with a point sink",
                                                      node.name));
  if (action.slices() % 2 != 0)
    table.fail(
        table.find("quark")->line,
        fmt::format("quark '{}' has {} slices; axial currents change sign in the middle of an even number of them",
                    plan.quarks[node.quark].name, action.slices()));
  node.on_slices = true;
  const int source = gamma_named(table, "source", table.text("source", "g5"));
  const std::vector<int> currents = read_current_names(table, wall_current_names(), c);
  c.contract = [currents, source](std::span<const Propagator* const>, const ContractionPlace& place) {
    return wall_current_sums(*place.on_slices, source, currents, place.ahead, place.phases);
  };
}

void read_baryon(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c) {
  const BaryonLines lines = read_baryon_lines(table, plan);
  c.propagators = lines.nodes;
  std::vector<Baryon> baryons;
  const std::vector<std::string> names = table.texts("interpolators");
  if (names.empty()) table.fail(table.find("interpolators")->line, "interpolators is empty; name some");
  require_lines(table, "interpolators", names, lines);
  for (const std::string& name : names)
    for (const Baryon& b : baryons_of(name, lines.letters)) {
      c.structures.push_back(b.label());
      baryons.push_back(b);
    }
  c.contract = [baryons](std::span<const Propagator* const> s, const ContractionPlace& place) {
    return baryon_sums(s, baryons, place.phases);
  };
}

void read_staggered(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c) {
  c.propagators = read_meson_lines(table, plan);
  std::vector<StaggeredMeson> chosen;
  std::vector<std::string> known;
  for (const StaggeredMeson& m : staggered_mesons()) known.emplace_back(m.name);
  for (const int n : read_chosen(table, "mesons", known, table.texts("mesons"), c))
    chosen.push_back(staggered_mesons()[n]);
  c.contract = [chosen](std::span<const Propagator* const> s, const ContractionPlace& place) {
    return staggered_meson_sums(*s[0], *s[1], chosen, place.phases);
  };
}

void read_staggered_nucleon(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c) {
  c.propagators = {propagator_named(table, "quark", table.text("quark"), plan)};
  c.structures = {"nucleon"};
  c.contract = [](std::span<const Propagator* const> s, const ContractionPlace& place) {
    return staggered_nucleon_sums(*s[0], place.phases);
  };
}

void read_loop(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c) {
  LoopPlan loop;
  std::vector<std::string> quarks;
  for (const MeasureQuark& q : plan.quarks) quarks.push_back(q.name);
  if (quarks.empty()) table.fail("there is no [[quark]] of which it could be made; give one");
  const std::string quark = table.word("quark", quarks);
  loop.quark = static_cast<int>(std::find(quarks.begin(), quarks.end(), quark) - quarks.begin());
  if (plan.quarks[loop.quark].action.spins() != 4)
    table.fail(fmt::format("kind loop is of Dirac quarks, quark '{}' is not; use another", quark));
  loop.order = table.word("group", {"z2", "z4"}, "z2") == "z2" ? 2 : 4;
  loop.count = static_cast<int>(table.integer("count", 1, most_noises));
  loop.seed = static_cast<std::uint64_t>(table.integer("seed", 0, INT64_MAX));
  bool Dilution::*const members[] = {&Dilution::spin, &Dilution::colour, &Dilution::even_odd, &Dilution::time,
                                     &Dilution::space};
  const std::vector<std::string> words = {"spin", "colour", "even-odd", "time", "space"};
  for (const std::string& name :
       table.find("dilution") != nullptr ? table.texts("dilution") : std::vector<std::string>()) {
    const auto found = std::find(words.begin(), words.end(), name);
    if (found == words.end())
      table.fail(table.find("dilution")->line, fmt::format("dilution: '{}' is unknown; {}use {}", printable(name),
                                                           suggestion(name, words), fmt::join(words, ", ")));
    loop.dilution.*members[found - words.begin()] = true;
  }
  if (loop.dilution.even_odd && loop.dilution.space && loop.dilution.time)
    table.fail(table.find("dilution")->line,
               "dilution: in space and time there is one site in each part; leave even-odd out");
  for (const GammaPair& g : read_gammas(table)) {
    if (g.sink != g.source) table.fail(table.find("gammas")->line, "gammas: a loop has one; give names of one each");
    loop.gammas.push_back(g.sink);
    c.structures.push_back(meson_names()[g.sink]);
  }
  c.loop = loop;
}

struct KindOfCorrelator {
  const char* name;
  bool staggered;  ///< it is of staggered quarks, others are of Dirac quarks
  void (*read)(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c);
};
constexpr KindOfCorrelator correlator_kinds[] = {{"meson", false, read_meson},
                                                 {"chroma-currents", false, read_chroma_currents},
                                                 {"wall-currents", false, read_wall_currents},
                                                 {"baryon", false, read_baryon},
                                                 {"three-point", false, read_three_point},
                                                 {"loop", false, read_loop},
                                                 {"staggered-meson", true, read_staggered},
                                                 {"staggered-nucleon", true, read_staggered_nucleon}};

/// \throws UsageError propagators do not begin at the same sites.
void require_one_origin(const TableReader& table, const MeasurePlan& plan, const MeasureCorrelator& c) {
  const auto source_of = [&](int node) -> const MeasureSource& { return plan.sources[plan.nodes[node].source]; };
  const MeasureSource& first = source_of(c.propagators[0]);
  for (const int node : c.propagators) {
    const MeasureSource& other = source_of(node);
    if (first.drawn != other.drawn || first.seed != other.seed || first.positions != other.positions)
      table.fail(fmt::format("sources '{}' and '{}' of its propagators are at different sites; give both the same",
                             first.name, other.name));
  }
}

}  // namespace

std::vector<Momentum> momenta_of(TableReader& table, const char* key) {
  std::vector<Momentum> all;
  for (const std::vector<double>& p : table.lists(key, 3)) {
    for (const double n : p)
      if (n != std::round(n) || std::abs(n) > most_square)
        table.fail(table.find(key)->line, fmt::format("{}: {}; use whole numbers, in units of 2 pi / L", key, n));
    all.push_back({static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2])});
  }
  return all;
}

Momentum momentum_of(TableReader& table, const char* key) {
  if (table.find(key) == nullptr) return {};
  const std::vector<Momentum> all = momenta_of(table, key);
  if (all.size() != 1) table.fail(table.find(key)->line, fmt::format("{}: {} momenta; give one", key, all.size()));
  return all[0];
}

MeasureCorrelator read_correlator(TableReader& table, MeasurePlan& plan) {
  MeasureCorrelator c;
  std::vector<std::string> names;
  for (const KindOfCorrelator& kind : correlator_kinds) names.emplace_back(kind.name);
  c.kind = table.word("kind", names);
  if (plan.propagators.empty() && c.kind != "loop")
    table.fail("there is no [[propagator]] of which it could be made; give one");
  for (const KindOfCorrelator& kind : correlator_kinds)
    if (c.kind == kind.name) {
      kind.read(table, plan, c);
      std::vector<int> all = c.propagators;
      if (c.sequential >= 0) all = plan.nodes[c.sequential].sequential->inputs;
      for (const int node : all)
        if (plan.staggered(node) != kind.staggered)
          table.fail(fmt::format("kind {} is of {} quarks, propagator '{}' is not; use {}", kind.name,
                                 kind.staggered ? "staggered" : "Dirac", plan.nodes[node].name,
                                 kind.staggered ? "meson or baryon" : "staggered-meson or staggered-nucleon"));
    }
  for (std::size_t n = 0; n < c.structures.size(); ++n)
    if (std::find(c.structures.begin(), c.structures.begin() + n, c.structures[n]) != c.structures.begin() + n)
      table.fail(fmt::format("'{}' is there twice; name it once", c.structures[n]));
  c.momenta = read_momenta(table);
  if (!c.loop) require_one_origin(table, plan, c);
  return c;
}

}  // namespace quarksmith::runs
