#include "runs/measure_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "solvers/measure/baryons.hpp"
#include "solvers/measure/sequential.hpp"

namespace quarksmith::runs {
namespace {

std::vector<Current> read_currents(TableReader& table) {
  std::vector<Current> currents;
  for (const std::string& name : table.texts("currents")) try {
      currents.push_back(current_named(name));
    } catch (const UnknownName& e) {
      table.fail(table.find("currents")->line, e.what());
    }
  if (currents.empty()) table.fail(table.find("currents")->line, "currents is empty; name some");
  return currents;
}

/// Currents in their order: the local ones together, each conserved one by itself.
std::vector<Complex64> contract_currents(const std::vector<Current>& currents, const Propagator& x, const Propagator& s,
                                         const ContractionPlace& place) {
  std::vector<Current> local;
  for (const Current& c : currents)
    if (!c.conserved) local.push_back(c);
  std::vector<std::vector<Complex64>> parts;
  if (!local.empty()) parts.push_back(three_point_sums(x, s, local, place.phases));
  for (const Current& c : currents) {
    if (!c.conserved) continue;
    const Propagator x_ahead = place.ahead(x, c.gamma), s_ahead = place.ahead(s, c.gamma);
    parts.push_back(conserved_three_point_sums(x, s, {&x_ahead, &s_ahead}, c.gamma, place.phases));
  }
  const std::size_t each = parts[0].size() / (local.empty() ? 1 : local.size());
  std::vector<Complex64> all(each * currents.size());
  for (std::size_t k = 0, l = 0, part = local.empty() ? 0 : 1; k < currents.size(); ++k) {
    const bool own = currents[k].conserved;
    const auto& from = own ? parts[part++] : parts[0];
    for (std::size_t n = 0; n < each; ++n) all[n * currents.size() + k] = own ? from[n] : from[n * local.size() + l];
    l += !own;
  }
  return all;
}

/// The two-point function of a meson, and the current on the line of S1.
void read_meson_sink(TableReader& table, const MeasurePlan& plan, SequentialSource& to) {
  to.inputs = read_meson_lines(table, plan);
  const GammaPair gammas = gamma_pair_named(table, "gamma", table.text("gamma"));
  to.make = [gammas](std::span<const Propagator* const> s, const SinkPlace& sink) {
    return sequential_source(*s[0], *s[1], gammas, sink);
  };
}

/// That of a baryon, by its name and spin: `proton/up`.
void read_baryon_sink(TableReader& table, const MeasurePlan& plan, SequentialSource& to) {
  const BaryonLines lines = read_baryon_lines(table, plan);
  to.inputs = lines.nodes;
  const std::string text = table.text("interpolator"), name = text.substr(0, text.find('/'));
  require_lines(table, "interpolator", {name}, lines);
  const std::string line = table.text("line");
  if (line.size() != 1 || lines.letters.find(line) == std::string::npos)
    table.fail(table.find("line")->line,
               fmt::format("line '{}'; use one of the quarks: {}", printable(line), fmt::join(lines.letters, ", ")));
  to.line = lines.letters.find(line);
  std::vector<std::string> known;
  for (const Baryon& b : baryons_of(name, lines.letters)) {
    known.push_back(b.label());
    if (known.back() == text)
      to.make = [b, at = static_cast<int>(to.line)](std::span<const Propagator* const> s, const SinkPlace& sink) {
        return sequential_source(s, b, at, sink);
      };
  }
  if (!to.make)
    table.fail(table.find("interpolator")->line,
               fmt::format("interpolator '{}' is unknown; use {}", printable(text), fmt::join(known, ", ")));
}

}  // namespace

int propagator_named(TableReader& table, const char* key, const std::string& name, const MeasurePlan& plan) {
  const auto found = plan.propagators.find(name);
  if (found != plan.propagators.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [other, node] : plan.propagators) known.push_back(other);
  table.fail(table.find(key)->line, fmt::format("{}: there is no propagator '{}'; {}use {}", key, printable(name),
                                                suggestion(name, known), fmt::join(known, ", ")));
}

int gamma_named(TableReader& table, const char* key, const std::string& name) {
  if (const auto number = meson_number(name)) return *number;
  const auto& names = meson_names();
  table.fail(table.find(key)->line, fmt::format("{}: '{}' is unknown; {}use {}", key, printable(name),
                                                suggestion(name, names), fmt::join(names, ", ")));
}

GammaPair gamma_pair_named(TableReader& table, const char* key, const std::string& text) {
  const auto ends = split(text, ',');
  if (ends.size() > 2) gamma_named(table, key, text);
  return {gamma_named(table, key, ends[0]), gamma_named(table, key, ends.back())};
}

std::vector<int> read_meson_lines(TableReader& table, const MeasurePlan& plan) {
  const std::vector<std::string> quarks = table.texts("quarks");
  if (quarks.size() != 2)
    table.fail(table.find("quarks")->line, fmt::format("quarks: {} propagators; a meson has two", quarks.size()));
  std::vector<int> nodes;
  for (const std::string& name : quarks) nodes.push_back(propagator_named(table, "quarks", name, plan));
  return nodes;
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

BaryonLines read_baryon_lines(TableReader& table, const MeasurePlan& plan) {
  auto quarks = table.table("quarks", table.called() + ": quarks");
  if (!quarks) table.fail("quarks is missing; give it a table, as {u = \"light\", d = \"light\", s = \"strange\"}");
  BaryonLines lines;
  for (const auto& [letter, value] : quarks->contents().entries) {
    if (letter.size() != 1)
      quarks->fail(value.line, fmt::format("'{}' is no quark line; use u, d, s, 1 or 2", printable(letter)));
    lines.letters += letter;
    lines.nodes.push_back(propagator_named(*quarks, letter.c_str(), quarks->text(letter), plan));
  }
  return lines;
}

void require_lines(TableReader& table, const char* key, const std::vector<std::string>& names,
                   const BaryonLines& lines) {
  std::string used;
  const int line = table.find(key)->line;
  for (const std::string& name : names) try {
      for (const char letter : lines_of_baryon(name)) {
        used += letter;
        if (lines.letters.find(letter) == std::string::npos)
          table.fail(line, fmt::format("interpolator '{}' has a quark {}, of which quarks has no propagator; add it",
                                       name, letter));
      }
    } catch (const UnknownName& e) {
      table.fail(line, e.what());
    }
  for (const char letter : lines.letters)
    if (used.find(letter) == std::string::npos)
      table.fail(table.find("quarks")->line,
                 fmt::format("quarks: no interpolator has a quark {}; leave it out", letter));
}

void read_three_point(TableReader& table, MeasurePlan& plan, MeasureCorrelator& c) {
  auto sequential = std::make_shared<SequentialSource>();
  if (table.word("of", {"meson", "baryon"}) == "meson")
    read_meson_sink(table, plan, *sequential);
  else
    read_baryon_sink(table, plan, *sequential);
  const PropagatorNode& line = plan.nodes[sequential->inputs[sequential->line]];
  if (line.sink.has_derivative())
    table.fail(fmt::format("propagator '{}', which carries the current, has a derivative at its sink; use another",
                           line.name));
  const int forward = line.of >= 0 ? line.of : sequential->inputs[sequential->line];
  sequential->separation = static_cast<int>(table.integer("separation", 0, plan.slices - 1));
  sequential->momentum = momentum_of(table, "sink_momentum");
  int quark = line.quark;
  if (table.find("quark") != nullptr) {
    std::vector<std::string> names;
    for (const MeasureQuark& q : plan.quarks) names.push_back(q.name);
    const std::string name = table.word("quark", names);
    quark = static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  if (!plan.quarks[quark].action.adjoint())
    table.fail(
        fmt::format("quark '{}' of action {}: its sequential propagator needs gamma_5 M^+ gamma_5 as M for other "
                    "parameters, and none are known; use a quark of another action",
                    plan.quarks[quark].name, plan.quarks[quark].action.name()));
  const std::vector<Current> currents = read_currents(table);
  for (const Current& current : currents) {
    c.structures.push_back(current.name);
    if (current.conserved) c.work = 2;  // what is ahead of both
    if (current.conserved && (quark != line.quark || plan.quarks[quark].action.slices() > 1 ||
                              !has_conserved_current(plan.quarks[quark].action)))
      table.fail(table.find("currents")->line,
                 fmt::format("{} belongs to one quark of an isotropic Wilson operator, with or without clover or "
                             "twisted mass; use V{}",
                             current.name, current.name.back()));
  }
  c.propagators = {static_cast<int>(plan.nodes.size()), forward};
  c.ahead = quark;
  c.sequential = c.propagators[0];
  c.contract = [currents](std::span<const Propagator* const> s, const ContractionPlace& place) {
    return contract_currents(currents, *s[0], *s[1], place);
  };
  plan.nodes.push_back({table.text("name"), quark, line.source, -1, line.sink, line.links, sequential});
}

}  // namespace quarksmith::runs
