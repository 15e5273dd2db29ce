#include "runs/measure_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "runs/measured_correlator.hpp"
#include "runtime/error.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::runs {
namespace {

using Kind = Refusal::Kind;

constexpr double most_number = 0x1p53;  ///< of a configuration

struct ConfigurationsTable : Description {
  std::vector<std::string> files;
  std::vector<long long> numbers, lattice;
  long long first = 0, last = INT64_MAX, every = 1;
  bool allow_non_su3 = false;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("files", files, "names or patterns (\"run_*.ildg\"), or generated links, as of --gauge").required().count(1);
    add("numbers", Member::Integers{&numbers}, "their numbers (default: the last number in each name)")
        .range(-most_number, most_number);
    add("first", first, "the first number that is measured").range(0, INT64_MAX);
    add("last", last, "the last one").range(0, INT64_MAX);
    add("every", every, "stride").range(1, 1 << 30);
    add("lattice", Member::Integers{&lattice, directions}, "of formats that do not record it: [X, Y, Z, T]");
    list_allow_non_su3(add, allow_non_su3);
  }
};

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
std::vector<std::string> matches_of(const Description& table, const std::string& pattern,
                                    const std::filesystem::path& folder, const Session& session) {
  if (is_generated(pattern) || links_in_memory(pattern, session) != nullptr) return {pattern};
  const std::string path = (folder / pattern).string();
  if (pattern.find_first_of("*?[") == std::string::npos || std::filesystem::exists(path)) return {path};
  glob_t found{};
  std::vector<std::string> all;
  if (glob(path.c_str(), 0, nullptr, &found) == 0) all.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::erase_if(all, [](const std::string& p) { return p.ends_with(".part") || p.ends_with(".lock"); });
  if (all.empty())
    table.refuse(Kind::missing, "files",
                 fmt::format(": nothing matches '{}'; give names of configurations", printable(pattern)));
  return all;
}

/// Those of a table by their numbers, of which it leaves out some.
std::vector<Configuration> chosen(const ConfigurationsTable& table, const std::filesystem::path& folder,
                                  const Session& session) {
  std::vector<std::string> files;
  for (const std::string& pattern : table.files)
    for (const std::string& one : matches_of(table, pattern, folder, session)) files.push_back(one);
  if (!table.numbers.empty() && table.numbers.size() != files.size())
    table.refuse(
        Kind::contradicts, "numbers",
        fmt::format("has {} entries for {} configurations; give one for each", table.numbers.size(), files.size()));
  const auto is_made = [&](const std::string& name) {
    return is_generated(name) || links_in_memory(name, session) != nullptr;
  };
  if (table.given("lattice") && std::all_of(files.begin(), files.end(), is_made))
    table.refuse(Kind::applies, "lattice", "belongs to files, of which there are none here; leave it out");
  std::map<long long, std::string> by_number;
  for (std::size_t n = 0; n < files.size(); ++n) {
    const long long found = files.size() == 1 ? std::max(number_in(files[n]), 0ll) : number_in(files[n]);
    const long long number = table.numbers.empty() ? found : table.numbers[n];
    if (number < 0 || !by_number.emplace(number, files[n]).second)
      table.refuse(Kind::contradicts, "files",
                   fmt::format(": {}: {}; {}", printable(files[n]),
                               number >= 0             ? fmt::format("number {} is taken", number)
                               : table.numbers.empty() ? "there is no number in its name"
                                                       : fmt::format("number {} is negative", number),
                               table.numbers.empty() ? "give numbers = [...], one for each configuration"
                                                     : "give each configuration in numbers one of its own, from 0 on"));
  }
  std::vector<Configuration> all;
  long long place = 0;
  for (const auto& [number, file] : by_number)
    if (number >= table.first && number <= table.last && place++ % table.every == 0) all.push_back({file, number});
  if (all.empty())
    table.refuse(Kind::contradicts, "files",
                 fmt::format(": no configuration has a number from {} to {}; use others", table.first, table.last));
  return all;
}

/// Smearing of links, empty for none; only where something else is given.
Member& list_link_smearing(Members::Adder& add, const char* key, std::string& text, const std::string& help) {
  return add(key, text, help).parsed([](const std::string& how) {
    if (!how.empty()) link_smearing_of(how);
  });
}

struct SourceTable : Description {
  SourceTable(MeasureSource& source, const MeasurePlan& of, const Lattice& on) : to(source), plan(of), lattice(on) {}

  void list(Members& members) override {
    auto add = members.of(*this);
    if (to.coordinates() > 0) {
      const auto each = static_cast<std::size_t>(to.coordinates());
      add("at", Member::Integers{&at, each, true}, "a position, or a list of them").range(0, 1 << 24).recent();
      add("count", count, "random positions, drawn for each configuration").range(1, most_positions).recent();
    }
    add("seed", seed, "of random positions and of noise").recent().only("count, noise", [this] {
      return draws() ? "" : "belongs to count and to kinds of noise; leave it out";
    });
    for (const ChoiceParameter& p : to.kind->parameters)
      if (p.direction < 0 && !p.name.empty() && p.name != seed_parameter)
        add(key_of(p), Member::Text{&to.numbers, !p.words.empty()}, "of its kind")
            .required(!p.fallback)
            .among(p.words.empty() ? std::vector<std::string>() : split(std::string(p.words), '|'))
            .recent();
    add("smearing", smearing, "smears it, by any sink").recent().parsed(quark_smearing_of);
    list_link_smearing(add, "smearing_links", to.links, "smears the links of smearing, as --smear-links")
        .only("smearing", [this] { return given("smearing") ? "" : "belongs to smearing, which is not there"; });
    add("momentum", Member::Integers{&momentum, 3}, "its phase, which multiplies the smeared source")
        .range(-most_momentum, most_momentum)
        .recent();
  }

  void check() override {
    if (given("at") && given("count")) refuse(Kind::contradicts, "at", "and count both choose positions; give one");
    if (draws() && !given("seed")) refuse(Kind::missing, "seed", "is required");
    to.drawn = given("count");
    to.seed = seed;
    if (given("smearing")) to.smearing = quark_smearing_of(smearing);
    std::copy(momentum.begin(), momentum.end(), to.momentum.begin());
    if (to.coordinates() == 0 || to.drawn) {
      to.positions.resize(static_cast<std::size_t>(count));
    } else if (!given("at")) {
      refuse(Kind::missing, "at", "is required, or count");
    } else {
      place();
    }
    if (!plan.sources.empty() && plan.positions() != static_cast<int>(to.positions.size()))
      refuse(Kind::contradicts, to.drawn ? "count" : "at",
             fmt::format("gives {} positions, source '{}' has {}; give all sources as many", to.positions.size(),
                         plan.sources[0].name, plan.positions()));
  }

 private:
  bool draws() const {
    const auto& parameters = to.kind->parameters;
    return given("count") || std::any_of(parameters.begin(), parameters.end(),
                                         [](const ChoiceParameter& p) { return p.name == seed_parameter; });
  }
  void place() {
    for (auto from = at.begin(); from != at.end();) {
      Coordinates x{};
      for (const ChoiceParameter& p : to.kind->parameters)
        if (p.direction >= 0) x[p.direction] = static_cast<int>(*from++);
      to.positions.push_back(x);
      try {
        to.at(x, lattice, 0);
      } catch (const UsageError& e) {
        refuse(Kind::range, "at", fmt::format(": {}", e.what()));
      }
    }
  }

  static constexpr int most_positions = 100000;
  MeasureSource& to;
  const MeasurePlan& plan;
  const Lattice& lattice;
  std::vector<long long> at, momentum;
  long long count = 1;
  std::uint64_t seed = 0;
  std::string smearing;
};

struct PropagatorTable : Description {
  PropagatorTable(const MeasurePlan& of) : plan(of) {}
  std::string quark, source, sink = "point", links;
  const MeasurePlan& plan;

  void list(Members& members) override {
    auto add = members.of(*this);
    add("quark", quark, "one of [[quark]]").required().among(plan.names(plan.quarks));
    add("source", source, "one of [[source]]").required().among(plan.names(plan.sources));
    add("sink", sink, "smears its sink").parsed(sink_of);
    list_link_smearing(add, "sink_links", links, "smears the links for the sink, as --smear-links");
  }
  void check() override {
    if (plan.quarks.empty()) refuse(Kind::missing, "quark", "has nothing to name: there is no [[quark]]; give one");
    if (plan.sources.empty()) refuse(Kind::missing, "source", "has nothing to name: there is no [[source]]; give one");
    const bool smeared = static_cast<bool>(sink_of(sink));
    if (!links.empty() && !smeared) refuse(Kind::applies, "sink_links", "belongs to a smeared sink; leave it out");
    if (quark.empty() || source.empty() || plan.named(plan.quarks, quark).action.spins() == 4) return;
    if (smeared || plan.named(plan.sources, source).smearing)
      refuse(Kind::contradicts, smeared ? "sink" : "source",
             fmt::format("is smeared, and '{}' is a staggered quark, which is not; use others", quark));
  }
};

/// The name of what a table describes, by which messages call it from now on.
std::string read_own_name(TableReader& table, const char* what, const std::vector<std::string>& taken) {
  const std::string name = table.text("name");
  if (name.empty() || name != printable(name) || name.find_first_of("/ ,") != std::string::npos)
    table.refuse(
        Kind::word, "name",
        fmt::format("name '{}'; use letters, digits and the like without /, comma and space", printable(name)));
  if (std::find(taken.begin(), taken.end(), name) != taken.end())
    table.refuse(Kind::twice, "name",
                 fmt::format("name '{}' is that of another {}; give each a name of its own", name, what));
  table.call(fmt::format("{} '{}'", what, name));
  return name;
}

/// The same of what is in the results, beside other things there.
std::string read_name_of_result(TableReader& table, const char* what, std::vector<std::string>& taken) {
  const std::string name = read_own_name(table, what, taken);
  constexpr std::string_view others[] = {"solves", "gauge_fixing", ".", ".."};
  if (std::find(std::begin(others), std::end(others), name) != std::end(others) || name.size() > 255)
    table.refuse(Kind::word, "name",
                 fmt::format("name '{}' is none that a dataset of results.h5 can have; use another", name));
  return taken.emplace_back(name);
}

void read_source(TableReader table, MeasurePlan& plan, const Lattice& lattice, const std::filesystem::path& folder) {
  MeasureSource s;
  s.name = read_own_name(table, "source", plan.names(plan.sources));
  const std::string kind = table.word("kind", names_of<SourceKind>(), "point");
  for (const SourceKind* k : listed<SourceKind>())
    if (k->name == kind) s.kind = k;
  SourceTable keys(s, plan, lattice);
  table.read_rest(keys, folder);
  if (s.smearing && s.momentum != Momentum{})  // older runs multiplied before they smeared
    table.note("momentum", fmt::format("[{}], of the smeared source", fmt::join(s.momentum, ", ")));
  plan.sources.push_back(s);
}

void read_quark(TableReader table, MeasurePlan& plan, const Lattice& lattice, const std::filesystem::path& folder,
                const Session& session) {
  const std::string name = read_own_name(table, "quark", plan.names(plan.quarks));
  const auto solves = std::make_shared<QuarkSolves>();
  solves->deflation.member = fmt::format("quark '{}': deflation", name);
  solves->action.state(table, folder);
  table.read_rest(*solves, folder);
  std::optional<Action> action;
  table.locate([&] { action = solves->action.make(lattice, folder, session); });
  note_action(table, *action, session);
  MeasureQuark q{name, *action, solves};
  if (q.deflated() && std::holds_alternative<std::string>(table.find("deflation")->value) && q.solves->counts())
    table.refuse(Kind::type, "deflation",
                 fmt::format("deflation \"{}\"; write a number of eigenvectors without quotes, or the prefix of files "
                             "that is none",
                             q.solves->deflation.text));
  if (q.solves->solve.given("even_odd") && !q.action.has_even_odd() && q.solves->solve.even_odd != "none")
    table.refuse(Kind::contradicts, "even_odd",
                 fmt::format("action {} has no even-odd form with these parameters; use none", action->name()));
  plan.quarks.push_back(std::move(q));
}

/// The node of what a table asks for; made if there is none that is the same.
void read_propagator(TableReader table, MeasurePlan& plan, const std::filesystem::path& folder) {
  const std::string name = read_own_name(table, "propagator", plan.names_of_propagators());
  PropagatorTable keys(plan);
  table.read_rest(keys, folder);
  const PropagatorNode solved{name, plan.number(plan.quarks, keys.quark), plan.number(plan.sources, keys.source)};
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
  if (const QuarkSmearing how = sink_of(keys.sink))
    node = node_of({name, solved.quark, solved.source, node, how, keys.links});
  plan.propagators[name] = node;
}

/// \throws UsageError a propagator is in no correlator.
void require_used(const TableReader& file, const MeasurePlan& plan) {
  std::set<int> used;
  for (const MeasureCorrelator& c : plan.correlators) used.insert(c.propagators.begin(), c.propagators.end());
  for (const PropagatorNode& n : plan.nodes)
    if (n.sequential) used.insert(n.sequential->inputs.begin(), n.sequential->inputs.end());
  for (const auto& [name, node] : plan.propagators)
    if (!used.contains(node)) file.fail(fmt::format("propagator '{}' is in no correlator; leave it out", name));
}

}  // namespace

void QuarkSolves::list(Members& members) {
  action.list_keys(members);
  solve.list(members);
  members.leave_out({"mg_load", "mg_refresh", "mg_save"});
  auto add = members.of(*this);
  list_link_smearing(add, "smear_links", smear_links, "smears its links, as --smear-links");
  add("deflation", deflation.text,
      "eigenvectors as first guesses: how many to compute, or the prefix of files of `quarksmith eigen`")
      .path()
      .recent();
}

bool QuarkSolves::counts() const {
  return deflation.text.find_first_not_of("0123456789", deflation.text.starts_with('-')) == std::string::npos;
}

void QuarkSolves::check() {
  deflation.wording = wording;
  if (!deflation.is_given()) return;
  if (counts() && (deflation.text.size() > 6 || std::stoi(deflation.text) < 1))
    refuse(Kind::range, "deflation", "is no number from 1 to 999999");
  if (!smear_links.empty())
    refuse(Kind::contradicts, "deflation", "belongs to links that are not smeared; leave it or smear_links out");
}

ConfigurationList read_configurations(TableReader& file, const std::filesystem::path& folder, const Session& session) {
  auto table = file.table("configurations", "[configurations]");
  if (!table) file.fail("[configurations] is missing; give it files = [...]");
  ConfigurationsTable keys;
  table->read_rest(keys, folder);
  ConfigurationList list{{}, fmt::format("{}", fmt::join(keys.lattice, ",")), keys.allow_non_su3};
  table->locate([&] { list.all = chosen(keys, folder, session); });
  return list;
}

MeasurePlan read_measure(TableReader& file, const std::filesystem::path& folder, const Lattice& lattice,
                         const Session& session) {
  MeasurePlan plan;
  plan.slices = lattice.global_extent(3);
  file.note_in(plan.keys);
  for (TableReader& t : file.tables("source", "a source")) read_source(t, plan, lattice, folder);
  for (TableReader& t : file.tables("quark", "a quark")) read_quark(t, plan, lattice, folder, session);
  for (TableReader& t : file.tables("propagator", "a propagator")) read_propagator(t, plan, folder);
  std::vector<std::string> names;
  for (TableReader& t : file.tables("correlator", "a correlator")) {
    const std::string name = read_name_of_result(t, "correlator", names);
    plan.correlators.push_back(read_correlator(t, name, plan, lattice));
  }
  for (PropagatorNode& n : plan.nodes)
    if (n.sequential) n.quark = plan.adjoint_of(n.quark);
  require_used(file, plan);
  for (TableReader& t : file.tables("observable", "an observable")) {
    const std::string name = read_name_of_result(t, "observable", names);
    plan.observables.push_back(read_observable(t, name, lattice));
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
