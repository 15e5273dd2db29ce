// Correlators of RUN.toml: a row for each kind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "apps/measure_file.hpp"
#include "runtime/error.hpp"
#include "solvers/measure/baryons.hpp"
#include "solvers/measure/correlators.hpp"

namespace quarksmith::apps {
namespace {

constexpr int most_square = 10000;

/// The one of equivalent momenta by which they are named: integers from the largest down, none negative.
Momentum representative(Momentum p) {
  for (int& n : p) n = std::abs(n);
  std::sort(p.begin(), p.end(), std::greater<>());
  return p;
}

MomentumGroups read_momenta(TomlReader& table) {
  MomentumGroups m;
  const bool average = table.flag("average", false);
  std::vector<Momentum> all = {{0, 0, 0}};
  if (table.find("largest_square") != nullptr) {
    if (table.has("momenta"))
      table.fail(table.find("momenta")->line, "momenta and largest_square both choose momenta; give one of them");
    all = momenta_up_to(static_cast<int>(table.integer("largest_square", 0, most_square)));
  } else if (table.find("momenta") != nullptr) {
    all.clear();
    for (const std::vector<double>& p : table.lists("momenta", 3)) {
      for (const double n : p)
        if (n != std::round(n) || std::abs(n) > most_square)
          table.fail(table.find("momenta")->line,
                     fmt::format("momenta: {}; use whole numbers, in units of 2 pi / L", n));
      all.push_back({static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2])});
    }
  }
  for (const Momentum& p : all) {
    const Momentum name = average ? representative(p) : p;
    if (std::find(m.names.begin(), m.names.end(), name) != m.names.end()) continue;
    m.names.push_back(name);
    m.groups.push_back(average ? equivalents_of(p) : std::vector<Momentum>{p});
  }
  return m;
}

/// A propagator by the name that a key gives.
int propagator_named(TomlReader& table, const char* key, const std::string& name, const MeasurePlan& plan) {
  const auto found = plan.propagators.find(name);
  if (found != plan.propagators.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [other, node] : plan.propagators) known.push_back(other);
  table.fail(table.find(key)->line, fmt::format("{}: there is no propagator '{}'; {}use {}", key, printable(name),
                                                suggestion(name, known), fmt::join(known, ", ")));
}

int gamma_named(TomlReader& table, const std::string& name) {
  const auto& names = meson_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    table.fail(table.find("gammas")->line,
               fmt::format("gammas: '{}' is unknown; {}use {}, or two of these, sink,source", printable(name),
                           suggestion(name, names), fmt::join(names, ", ")));
  return static_cast<int>(found - names.begin());
}

/// `same`: sixteen, each at both ends; `all`: all pairs; else a list of `g5` or `g5,gt`.
std::vector<GammaPair> read_gammas(TomlReader& table) {
  std::vector<GammaPair> pairs;
  const TomlValue* given = table.find("gammas");
  if (given != nullptr && !std::holds_alternative<std::string>(given->value)) {
    for (const std::string& text : table.texts("gammas")) {
      const auto ends = split(text, ',');
      if (ends.size() > 2) gamma_named(table, text);
      pairs.push_back({gamma_named(table, ends[0]), gamma_named(table, ends.back())});
    }
    return pairs;
  }
  const bool all = table.word("gammas", {"same", "all"}, "same") == "all";
  for (int sink = 0; sink < 16; ++sink)
    for (int source = 0; source < 16; ++source)
      if (all || sink == source) pairs.push_back({sink, source});
  return pairs;
}

void read_meson(TomlReader& table, const MeasurePlan& plan, MeasureCorrelator& c) {
  const std::vector<std::string> quarks = table.texts("quarks");
  if (quarks.size() != 2)
    table.fail(table.find("quarks")->line, fmt::format("quarks: {} propagators; a meson has two", quarks.size()));
  for (const std::string& name : quarks) c.propagators.push_back(propagator_named(table, "quarks", name, plan));
  const std::vector<GammaPair> gammas = read_gammas(table);
  for (const GammaPair& g : gammas) {
    const std::string &sink = meson_names()[g.sink], &source = meson_names()[g.source];
    c.structures.push_back(g.sink == g.source ? sink : sink + "," + source);
  }
  c.contract = [gammas](std::span<const Propagator* const> s, const MomentumPhases& phases, Communicator& ranks) {
    return meson_sums(*s[0], *s[1], gammas, phases, ranks);
  };
}

void read_baryon(TomlReader& table, const MeasurePlan& plan, MeasureCorrelator& c) {
  auto quarks = table.table("quarks", table.called() + ": quarks");
  if (!quarks) table.fail("quarks is missing; give it a table, as {u = \"light\", d = \"light\", s = \"strange\"}");
  std::string lines;
  for (const auto& [letter, value] : quarks->contents().entries) {
    if (letter.size() != 1)
      quarks->fail(value.line, fmt::format("'{}' is no quark line; use u, d, s, 1 or 2", printable(letter)));
    lines += letter;
    c.propagators.push_back(propagator_named(*quarks, letter.c_str(), quarks->text(letter), plan));
  }
  std::vector<BaryonTerms> terms;
  std::string used;
  for (const std::string& name : table.texts("interpolators")) {
    const int line = table.find("interpolators")->line;
    try {
      for (const char letter : lines_of_baryon(name)) {
        used += letter;
        if (lines.find(letter) == std::string::npos)
          table.fail(line, fmt::format("interpolator '{}' has a quark {}, of which quarks has no propagator; add it",
                                       name, letter));
      }
    } catch (const UnknownName& e) {
      table.fail(line, e.what());
    }
    for (const Baryon& b : baryons_of(name, lines)) {
      c.structures.push_back(b.spin.empty() ? b.name : b.name + "/" + b.spin);
      terms.push_back(b.terms);
    }
  }
  if (terms.empty()) table.fail(table.find("interpolators")->line, "interpolators is empty; name some");
  for (const char letter : lines)
    if (used.find(letter) == std::string::npos)
      quarks->fail(fmt::format("no interpolator has a quark {}; leave it out", letter));
  c.contract = [terms](std::span<const Propagator* const> s, const MomentumPhases& phases, Communicator& ranks) {
    return baryon_sums(s, terms, phases, ranks);
  };
}

struct KindOfCorrelator {
  const char* name;
  void (*read)(TomlReader& table, const MeasurePlan& plan, MeasureCorrelator& c);
};
constexpr KindOfCorrelator correlator_kinds[] = {{"meson", read_meson}, {"baryon", read_baryon}};

/// \throws UsageError propagators do not begin at the same sites.
void require_one_origin(const TomlReader& table, const MeasurePlan& plan, const MeasureCorrelator& c) {
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

MeasureCorrelator read_correlator(TomlReader& table, const MeasurePlan& plan) {
  MeasureCorrelator c;
  std::vector<std::string> names;
  for (const KindOfCorrelator& kind : correlator_kinds) names.emplace_back(kind.name);
  c.kind = table.word("kind", names);
  if (plan.propagators.empty()) table.fail("there is no [[propagator]] of which it could be made; give one");
  for (const KindOfCorrelator& kind : correlator_kinds)
    if (c.kind == kind.name) kind.read(table, plan, c);
  c.momenta = read_momenta(table);
  require_one_origin(table, plan, c);
  return c;
}

}  // namespace quarksmith::apps
