#include "runs/measure_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runs/action_keys.hpp"
#include "runtime/error.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::runs {
namespace {

constexpr int most_positions = 100000, most_eigenvectors = 999999;
constexpr double most_number = 0x1p53;  ///< of a configuration

KeyRules quark_keys() {
  KeyRules rules{"quark", {"name", "action", "boundary", "ls", "field", "smear_links", "deflation"}};
  QuarkSolves any;
  const std::vector<std::string> solver = members_of(any).names();
  rules.own.insert(rules.own.end(), solver.begin(), solver.end());
  return rules;
}

/// The last number in the name of a file; -1: there is none.
long long number_in(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::size_t end = name.find_last_of("0123456789");
  if (end == std::string::npos) return -1;
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1]))) --begin;
  return end - begin < 18 ? std::stoll(name.substr(begin, end - begin + 1)) : -1;
}

/// Files of a pattern; a name without wildcards stands for itself.
std::vector<std::string> matches_of(TableReader& table, const std::string& pattern, const std::filesystem::path& folder,
                                    const Session& session) {
  if (is_generated(pattern) || links_in_memory(pattern, session) != nullptr) return {pattern};
  const std::string path = (folder / pattern).string();
  if (pattern.find_first_of("*?[") == std::string::npos || std::filesystem::exists(path)) return {path};
  glob_t found{};
  std::vector<std::string> all;
  if (glob(path.c_str(), 0, nullptr, &found) == 0) all.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::erase_if(all, [](const std::string& p) { return p.ends_with(".part") || p.ends_with(".lock"); });
  if (all.empty())
    table.fail(table.find("files")->line,
               fmt::format("files: nothing matches '{}'; give names of configurations", printable(pattern)));
  return all;
}

/// Tells what is wrong with a value of a key.
template <class Read>
auto at_key(TableReader& table, const char* key, const Read& read) {
  try {
    return read();
  } catch (const UsageError& e) {
    table.fail(table.has(key) ? table.find(key)->line : table.line(), fmt::format("{}: {}", key, e.what()));
  }
}

std::string read_link_smearing(TableReader& table, const char* key) {
  const std::string text = table.text(key, "");
  if (!text.empty()) at_key(table, key, [&] { return link_smearing_of(text); });
  return text;
}

std::string read_own_name(TableReader& table, const char* what, const std::set<std::string>& taken) {
  const std::string name = table.text("name");
  if (name.empty() || name != printable(name) || name.find_first_of("/ ,") != std::string::npos)
    table.fail(fmt::format("name '{}'; use letters, digits and the like without /, comma and space", printable(name)));
  if (taken.contains(name))
    table.fail(fmt::format("there is another '{}' already; give each {} a name of its own", name, what));
  table.call(fmt::format("{} '{}'", what, name));
  return name;
}

/// Names of things.
template <class All>
std::set<std::string> names_in(const All& all) {
  std::set<std::string> names;
  for (const auto& one : all) names.insert(one.name);
  return names;
}

/// The number of what a key names.
template <class All>
int number_of(TableReader& table, const char* key, const All& all) {
  const std::set<std::string> names = names_in(all);
  if (names.empty()) table.fail(fmt::format("there is no [[{}]]; give one", key));
  const std::string name = table.word(key, {names.begin(), names.end()});
  return static_cast<int>(std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.name == name; }) -
                          all.begin());
}

void read_positions(TableReader& table, MeasureSource& s) {
  const int count = s.coordinates();
  s.drawn = table.has("count") && count > 0;
  if (s.drawn) {
    if (table.has("at"))
      table.fail(table.find("at")->line, "at belongs to given positions, count to drawn ones; give one");
    s.positions.resize(static_cast<std::size_t>(table.integer("count", 1, most_positions)));
    s.seed = static_cast<std::uint64_t>(table.integer("seed", 0, INT64_MAX));
    return;
  }
  if (count == 0) {
    s.positions.resize(1);
    return;
  }
  for (const std::vector<double>& given : table.lists("at", static_cast<std::size_t>(count))) {
    Coordinates x{};
    for (int k = 0, n = 0; k < static_cast<int>(most_parameters); ++k)
      if (const int mu = s.kind->parameters[k].direction; mu >= 0) {
        if (given[n] < 0 || given[n] != std::floor(given[n]) || given[n] > 1 << 24)
          table.fail(table.find("at")->line,
                     fmt::format("at: {} is no coordinate; use whole numbers from 0", given[n]));
        x[mu] = static_cast<int>(given[n++]);
      }
    s.positions.push_back(x);
  }
}

MeasureSource read_source_table(TableReader table, const MeasurePlan& plan, const Lattice& lattice) {
  MeasureSource s;
  s.name = read_own_name(table, "source", names_in(plan.sources));
  const std::string kind = table.word("kind", names_of<SourceKind>(), "point");
  for (const SourceKind* k : listed<SourceKind>())
    if (k->name == kind) s.kind = k;
  read_positions(table, s);
  for (const ChoiceParameter& p : s.kind->parameters) {
    if (p.name.empty() || p.direction >= 0) continue;
    std::string key(p.name);
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
    if (p.fallback && !table.has(key)) continue;
    s.numbers[std::string(p.name)] =
        p.words.empty() ? fmt::format("{}", table.integer(key, 0, INT64_MAX)) : table.text(key);
  }
  if (table.find("smearing") != nullptr) {
    const std::string text = table.text("smearing");
    s.smearing = at_key(table, "smearing", [&] { return quark_smearing_of(text); });
  }
  s.links = read_link_smearing(table, "smearing_links");
  if (!s.links.empty() && !s.smearing)
    table.fail(table.find("smearing_links")->line,
               "smearing_links belongs to smearing, which is not there; leave it out");
  s.momentum = momentum_of(table, "momentum");
  table.done();
  for (const Coordinates& x : s.drawn ? std::vector<Coordinates>() : s.positions)
    at_key(table, "at", [&] { return s.at(x, lattice, 0); });
  if (!plan.sources.empty() && plan.positions() != static_cast<int>(s.positions.size()))
    table.fail(fmt::format("it has {} positions, source '{}' has {}; give all sources as many", s.positions.size(),
                           plan.sources[0].name, plan.positions()));
  return s;
}

bool is_number(const std::string& text) { return text.find_first_not_of("0123456789") == std::string::npos; }

/// How many eigenvectors, or the prefix of files with them.
void read_deflation(TableReader& table, const std::filesystem::path& folder, MeasureQuark& q) {
  const Value* given = table.find("deflation");
  if (given == nullptr) return;
  DeflationDescription& deflation = q.solves->deflation;
  deflation.member = fmt::format("quark '{}': deflation", q.name);
  deflation.wording.door = Door::toml;
  if (std::holds_alternative<long long>(given->value))
    deflation.text = std::to_string(table.integer("deflation", 1, most_eigenvectors));
  else
    deflation.text = (folder / table.text("deflation")).string();
  if (std::holds_alternative<std::string>(given->value) && is_number(deflation.text))
    table.fail(given->line,
               fmt::format("deflation \"{}\"; write a number of eigenvectors without quotes, or the prefix "
                           "of files that is none",
                           deflation.text));
  if (!q.smear_links.empty())
    table.fail(given->line, "deflation belongs to links that are not smeared; leave it or smear_links out");
}

MeasureQuark read_quark_table(TableReader table, const MeasurePlan& plan, const Lattice& lattice,
                              const std::filesystem::path& folder, const Session& session) {
  const KeyRules rules = quark_keys();
  const std::string name = read_own_name(table, "quark", names_in(plan.quarks));
  const std::string action = table.text("action");
  ActionKeys keys;
  read_keys(table, rules, nullptr, keys);
  MeasureQuark q{name, read_action(table, rules, action, keys, lattice, folder, session),
                 std::make_shared<QuarkSolves>(), read_link_smearing(table, "smear_links")};
  q.solves->action.action = listed_name(q.action.info());
  Members solves = members_of(*q.solves);
  table.read(solves, folder);
  read_deflation(table, folder, q);
  if (q.solves->solve.given("even_odd") && !q.action.has_even_odd() && q.solves->solve.even_odd != "none")
    table.fail(table.find("even_odd")->line,
               fmt::format("action {} has no even-odd form with these parameters; use none", action));
  table.done();
  return q;
}

/// The node of what a table asks for; made if there is none that is the same.
void read_propagator_table(TableReader table, MeasurePlan& plan) {
  std::set<std::string> taken;
  for (const auto& [name, node] : plan.propagators) taken.insert(name);
  const std::string name = read_own_name(table, "propagator", taken);
  PropagatorNode solved{name, number_of(table, "quark", plan.quarks), number_of(table, "source", plan.sources)};
  const std::string sink = table.text("sink", "point");
  const QuarkSmearing how = at_key(table, "sink", [&] { return sink_of(sink); });
  const std::string links = read_link_smearing(table, "sink_links");
  const bool smeared_source = static_cast<bool>(plan.sources[solved.source].smearing);
  if (plan.quarks[solved.quark].action.spins() != 4 && (how || smeared_source))
    table.fail(fmt::format("quark '{}' is a staggered one: its sources and sinks are not smeared; leave {} out",
                           plan.quarks[solved.quark].name, how ? "sink" : "the smearing of the source"));
  if (!links.empty() && !how)
    table.fail(table.find("sink_links")->line, "sink_links belongs to a smeared sink; leave it out");
  table.done();
  const auto node_of = [&plan](const PropagatorNode& node) {
    const auto found = std::find_if(plan.nodes.begin(), plan.nodes.end(), [&](const PropagatorNode& n) {
      return n.quark == node.quark && n.source == node.source && n.of == node.of && n.sink == node.sink &&
             n.links == node.links;
    });
    if (found != plan.nodes.end()) return static_cast<int>(found - plan.nodes.begin());
    plan.nodes.push_back(node);
    return static_cast<int>(plan.nodes.size()) - 1;
  };
  int node = node_of(solved);
  if (how) node = node_of({name, solved.quark, solved.source, node, how, links});
  plan.propagators[name] = node;
}

}  // namespace

void QuarkSolves::list(Members& members) {
  solve.list(members);
  members.leave_out({"mg_load", "mg_refresh", "mg_save"});
}

ConfigurationList read_configurations(TableReader& file, const std::filesystem::path& folder, const Session& session) {
  auto table = file.table("configurations", "[configurations]");
  if (!table) file.fail("[configurations] is missing; give it files = [...]");
  ConfigurationList list;
  std::vector<std::string> files;
  for (const std::string& pattern : table->texts("files"))
    for (const std::string& one : matches_of(*table, pattern, folder, session)) files.push_back(one);
  if (files.empty()) table->fail(table->find("files")->line, "files is empty; give names of configurations");
  std::vector<double> numbers;
  if (table->has("numbers")) numbers = table->numbers("numbers");
  if (!numbers.empty() && numbers.size() != files.size())
    table->fail(
        table->find("numbers")->line,
        fmt::format("numbers has {} entries for {} configurations; give one for each", numbers.size(), files.size()));
  std::set<long long> taken;
  for (std::size_t n = 0; n < files.size(); ++n) {
    const long long found = files.size() == 1 ? std::max(number_in(files[n]), 0ll) : number_in(files[n]);
    if (!numbers.empty() && (numbers[n] != std::round(numbers[n]) || std::abs(numbers[n]) > most_number))
      table->fail(table->find("numbers")->line, fmt::format("numbers: {}; use whole numbers", numbers[n]));
    const long long number = numbers.empty() ? found : std::llround(numbers[n]);
    if (number < 0 || !taken.insert(number).second)
      table->fail(
          table->find("files")->line,
          fmt::format("{}: {}; give numbers = [...], one for each configuration", printable(files[n]),
                      number < 0 ? "there is no number in its name" : fmt::format("number {} is taken", number)));
    list.all.push_back({files[n], number});
  }
  std::sort(list.all.begin(), list.all.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  const long long first = table->integer("first", 0, INT64_MAX, 0),
                  last = table->integer("last", 0, INT64_MAX, INT64_MAX);
  std::erase_if(list.all, [&](const Configuration& c) { return c.number < first || c.number > last; });
  if (list.all.empty())
    table->fail(fmt::format("no configuration has a number from {} to {}; use others", first, last));
  const long long every = table->integer("every", 1, 1 << 30, 1);
  std::vector<Configuration> kept;
  for (std::size_t n = 0; n < list.all.size(); n += static_cast<std::size_t>(every)) kept.push_back(list.all[n]);
  list.all = kept;
  if (table->has("lattice")) {
    const auto extents = table->lists("lattice", 4)[0];
    list.lattice = fmt::format("{}", fmt::join(extents, ","));
  }
  list.allow_non_su3 = table->flag("allow_non_su3", false);
  table->done();
  return list;
}

MeasurePlan read_measure(TableReader& file, const std::filesystem::path& folder, const Lattice& lattice,
                         const Session& session) {
  MeasurePlan plan;
  plan.slices = lattice.global_extent(3);
  file.note_in(plan.keys);
  for (TableReader& t : file.tables("source", "a source")) plan.sources.push_back(read_source_table(t, plan, lattice));
  for (TableReader& t : file.tables("quark", "a quark"))
    plan.quarks.push_back(read_quark_table(t, plan, lattice, folder, session));
  for (TableReader& t : file.tables("propagator", "a propagator")) read_propagator_table(t, plan);
  for (TableReader& t : file.tables("correlator", "a correlator")) {
    const std::string name = read_own_name(t, "correlator", names_in(plan.correlators));
    plan.correlators.push_back(read_correlator(t, plan));
    plan.correlators.back().name = name;
    t.done();
  }
  for (PropagatorNode& n : plan.nodes)
    if (n.sequential) n.quark = plan.adjoint_of(n.quark);
  std::set<int> used;
  for (const MeasureCorrelator& c : plan.correlators) used.insert(c.propagators.begin(), c.propagators.end());
  for (const PropagatorNode& n : plan.nodes)
    if (n.sequential) used.insert(n.sequential->inputs.begin(), n.sequential->inputs.end());
  for (const auto& [name, node] : plan.propagators)
    if (!used.contains(node)) file.fail(fmt::format("propagator '{}' is in no correlator; leave it out", name));
  std::set<std::string> names = names_in(plan.correlators);
  for (TableReader& t : file.tables("observable", "an observable")) {
    const std::string name = read_own_name(t, "observable", names);
    plan.observables.push_back(read_observable(t, lattice));
    names.insert(plan.observables.back().name = name);
    t.done();
  }
  if (auto fixing = file.table("gauge_fixing", "[gauge_fixing]")) {
    plan.fixing = read_gauge_fixing(*fixing, folder, plan.fixing_files);
    for (const char* key : {"out", "transformation"}) plan.keys.erase(std::string("[gauge_fixing]: ") + key);
  }
  if (plan.correlators.empty() && plan.observables.empty() && !plan.fixing)
    file.fail("nothing is measured: there is no [[correlator]] and no [[observable]]; give one");
  for (const MeasureQuark& q : plan.quarks) plan.reach = std::max(plan.reach, q.action.reach());
  file.done();
  return plan;
}

}  // namespace quarksmith::runs
