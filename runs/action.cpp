#include "runs/action.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <ranges>

#include "runs/checkpoints.hpp"
#include "runs/contraction.hpp"
#include "runs/table_reader.hpp"
#include "runtime/error.hpp"
#include "runtime/io/field_file.hpp"
#include "runtime/on_demand.hpp"
#include "runtime/rehearsal.hpp"
#include "runtime/text.hpp"
#include "solvers/actions/slice_transform.hpp"

namespace quarksmith::runs {
namespace {

/// The help of a parameter; actions for which it reads the same are listed together.
std::string help_of(const ActionMember& o) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const auto& [action, help] : o.help) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == help; });
    if (group == groups.end()) group = groups.insert(group, {help, {}});
    const std::string name = listed_name(*action);
    if (std::find(group->second.begin(), group->second.end(), name) == group->second.end())
      group->second.push_back(name);
  }
  std::string text;
  for (const auto& [help, names] : groups)
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", help, fmt::join(names, ", "));
  return text;
}

/// The field that a caller in memory (C, Python) has given under a name; null if there is none.
/// \throws UsageError its size or its numbers are not those of a field of this kind on the lattice.
/// \param hop sites of the hops of its links; 0: it has none.
std::shared_ptr<GivenField> field_in_memory(const std::string& name, std::string_view kind, int hop,
                                            const Lattice& lattice, const Session& session) {
  const auto found = session.fields.find(name);
  if (found == session.fields.end()) return nullptr;
  const FieldNumbers& given = found->second;
  const int of_hop = given.hop;
  if (hop != 0 && of_hop != 0 && hop != of_hop)
    throw UsageError(
        fmt::format("field {} has links of {} site(s), whose phases at the boundary were divided out so; the "
                    "action's hops with it have {}; give it with length {}",
                    name, of_hop, hop, hop));
  std::size_t count = std::size_t(lattice.sites());
  for (const int extent : extents_of(kind)) count *= std::size_t(extent);
  const bool matrices = kind == "links" || kind == "matrices";
  const auto there = given.links ? std::size_t(given.links->lattice().sites() * directions * 9) : given.numbers.size();
  if (there != count)
    throw UsageError(fmt::format("field {} has {} numbers, {} on {} are {}; give as many", name, there, kind,
                                 lattice.text(), count));
  if (given.links && matrices) return std::make_shared<GivenField>(GivenField{std::string(kind), *given.links});
  try {
    return std::make_shared<GivenField>(given_field(kind, lattice, given.all()));
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("field {}: {}", name, e.what()));
  }
}

/// Reads `SOURCE,SINK`, the flavours of source and sink. \throws UsageError one is neither 0 nor 1.
std::array<int, 2> flavours_of(const std::string& text, const Wording& wording) {
  if (text != "0,0" && text != "0,1" && text != "1,0" && text != "1,1")
    throw UsageError(fmt::format("{} '{}' is not SOURCE,SINK, each 0 or 1", wording.name("flavours"), text));
  return {text[0] - '0', text[2] - '0'};
}

/// Numbers of an action as provenance records them: a list of real numbers if none is complex.
ProvenanceValue recorded(const std::vector<Complex64>& numbers) {
  if (std::any_of(numbers.begin(), numbers.end(), [](const Complex64& z) { return z.imag() != 0; })) return numbers;
  std::vector<double> real;
  for (const Complex64& z : numbers) real.push_back(z.real());
  return real;
}

std::string as_text(const std::string& text) { return text; }
std::string as_text(double x) { return fmt::format("{:.17g}", x); }
std::string as_text(long long n) { return fmt::format("{}", n); }
std::string as_text(const Complex64& z) {
  return z.imag() == 0 ? as_text(z.real()) : fmt::format("{:.17g}:{:.17g}", z.real(), z.imag());
}
template <class T>
std::string as_text(const std::vector<T>& list) {
  std::string text;
  for (const T& x : list) text += (text.empty() ? "" : ",") + as_text(x);
  return text;
}

}  // namespace

Provenance provenance_of(const Action& action, const std::vector<double>& masses, Session& session) {
  const ActionInfo& info = action.info();
  Provenance all = {{"action", listed_name(info)}};
  if (!info.digest.empty()) all[formula_key] = std::string(info.digest);
  for (const ActionParameter& p : info.parameters) {
    const std::string name(p.name);
    const auto values = action.values().all(name);
    if (p.each_slice || values[0].imag() != 0)
      all[name] = recorded(p.each_slice ? values : std::vector{values[0]});
    else if (p.several)
      all[name] = masses.empty() ? std::vector{values[0].real()} : masses;  // columns of each
    else
      all[name] = values[0].real();
  }
  for (const auto& [extension, p] : extensions(info)) all[std::string(p->name)] = 0.0;  // is not that action
  if (!info.chain.empty()) all["ls"] = static_cast<long long>(action.slices());
  if (info.flavours > 1) all["flavours"] = std::vector<long long>{action.setting().source, action.setting().sink};
  for (const auto& [name, field] : action.setting().fields) all["field_" + name] = gauge_digest(field->links, session);
  const Phases& boundary = action.setting().boundary;
  all["boundary"] = std::vector<Complex64>(boundary.begin(), boundary.end());
  return all;
}

const std::vector<ActionMember>& action_members() {
  static std::mutex one_at_a_time;
  static std::map<const ActionInfo*, std::vector<ActionMember>> all;  // by the table, which programs add to
  const std::lock_guard lock(one_at_a_time);
  const std::span<const ActionInfo> table = actions();
  const auto [made, is_new] = all.try_emplace(table.data());
  if (!is_new) return made->second;
  made->second = [&] {
    std::vector<ActionMember> found;
    const auto add = [&](std::string_view name, const ActionInfo& a, std::string_view help, bool list) {
      auto option = std::find_if(found.begin(), found.end(), [&](const auto& o) { return o.name == name; });
      if (option == found.end()) option = found.insert(option, {std::string(name), false, {}});
      option->list |= list;
      option->help.emplace(&a, help);
    };
    for (const ActionInfo& a : table) {
      for (const ActionParameter& p : a.parameters) add(p.name, a, p.help, p.several || p.each_slice || p.complex);
      for (const ActionAlternative& s : a.alternatives) add(s.name, a, s.help, s.numbers != s.name);
    }
    return found;
  }();
  return made->second;
}

Phases boundary_phases(const std::string& text, const Wording& wording) {
  std::vector<std::string> names;
  for (const auto& [name, time] : named_boundaries) {
    if (text == name) return {1, 1, 1, time};
    names.emplace_back(name);
  }
  const std::string forms = fmt::format("{} or a,b,c,d", fmt::join(names, ", "));
  if (const std::string meant = suggestion(text, names); !meant.empty())
    throw UsageError(fmt::format("{} '{}' is unknown; {}use {}", wording.name("boundary"), text, meant, forms));
  Phases phases;
  const std::array<double, 4> angles = four_numbers(text, fmt::format("{} ({})", wording.name("boundary"), forms));
  for (int mu = 0; mu < directions; ++mu) phases[mu] = phase_of(angles[mu]);
  return phases;
}

Phases choose_boundary(const std::string& boundary, const GaugeLinks& gauge, Session& session, const Wording& wording) {
  const bool in_file = gauge.phase() != Phases{1, 1, 1, 1};
  if (!boundary.empty()) {
    if (in_file)
      session.info(fmt::format("{} replaces the boundary phase that was found in the links", wording.name("boundary")));
    return boundary_phases(boundary, wording);
  }
  return in_file ? gauge.phase() : boundary_phases("antiperiodic");
}

std::map<std::string, std::string> texts_of(const Provenance& provenance) {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : provenance)
    all.emplace(name, std::visit([](const auto& x) { return as_text(x); }, value));
  std::string phases;
  for (const Complex64& z : std::get<std::vector<Complex64>>(provenance.at("boundary")))
    phases += fmt::format("{:.17g}{:+.17g}i ", z.real(), z.imag());
  all["boundary"] = phases;
  return all;
}

Member& only_with(Member& member, const ActionDescription& action, const std::function<bool(const ActionInfo&)>& has) {
  const std::vector<std::string> names = action_names(has);
  return member.only(fmt::format("action {}", fmt::join(names, ", ")), [&action, names, has]() -> std::string {
    const ActionInfo& info = action.info();
    const std::string present = listed_name(info);
    if (has(info) || std::find(names.begin(), names.end(), present) != names.end()) return "";
    return fmt::format("belongs to {} {}, not to {}; add {}, or leave it out", action.called("action"),
                       fmt::join(names, ", "), present, action.called("action", names.empty() ? "" : names[0]));
  });
}

void ActionDescription::list(Members& members) {
  auto add = members.of(*this);
  if (!on_links) {
    add("gauge", gauge, gauge_forms).required();
    add("lattice", lattice, "extents X,Y,Z,T, for files that do not record them");
  }
  list_allow_non_su3(add, allow_non_su3);
  add("action", action, fmt::format("{} (docs/actions.md)", fmt::join(action_names(), ", ")))
      .offers(action_names())
      .parsed([this](const std::string& name) { ActionReader::meant(stated(name), {}); });
  for (const ActionMember& o : action_members()) {
    Member& member = add(o.name, Member::Target(Member::Text{&parameters, o.list}), help_of(o));
    only_with(member, *this, [&o](const ActionInfo& a) { return o.help.contains(&a); });
    member.recent().parsed([&o, this](const std::string& text) {
      for (const std::string& part : split(text, ','))
        for (const std::string& one : split(part, ':')) number(one, called(o.name));
    });
  }
  only_with(add("flavours", flavours, "of actions with two, 0 or 1: SOURCE,SINK"), *this,
            [](const ActionInfo& a) { return a.flavours > 1; });
  only_with(add("ls", slices, "slices of actions with a fifth dimension").range(1, most_slices).recent(), *this,
            [](const ActionInfo& a) { return !a.chain.empty(); });
  add("field", field,
      "a field that the action takes besides the links, NAME=FILE[:DATASET] (HDF5), or NAME=NUMBER; may be given "
      "again")
      .type("NAME=FILE")
      .recent();
  add("boundary", boundary, "periodic, antiperiodic (default) or phases a,b,c,d in units of pi")
      .recent()
      .offers(std::views::keys(named_boundaries))
      .parsed([this](const std::string& text) { boundary_phases(text, wording); });
}

void ActionDescription::list_keys(Members& members) {
  on_links = true;
  list(members);
  members.leave_out({"allow_non_su3", "flavours"});
  members.find("action")->required();
}

std::string ActionDescription::stated(const std::string& name) const {
  return stated_action(name.find(".py") == name.npos ? name : (folder / name).string());
}

void ActionDescription::state(TableReader& table, const std::filesystem::path& from) {
  folder = from;
  const Value* given = table.contents().find("action");
  const auto* name = given == nullptr ? nullptr : std::get_if<std::string>(&given->value);
  if (name != nullptr) table.locate([&] { stated(*name); });
}

void note_action(TableReader& table, const Action& action, const Session& session) {
  if (!action.info().digest.empty()) table.note("formula", std::string(action.info().digest));
  if (KernelRehearsal::under_way()) return;  // digests are collective
  for (const auto& [name, field] : action.setting().fields)
    table.note(fmt::format("field {}{}", name, digest_note), gauge_digest(field->links, session));
}

const ActionInfo& ActionDescription::info() const { return ActionReader::meant(stated(action), parameters); }

ActionReader ActionDescription::reader() const {
  const ActionInfo& a = info();
  return {a, parameters, a.chain.empty() ? 1 : slices, wording};
}

void ActionDescription::check() {
  reader().values();
  flavours_of(flavours, wording);
  const ActionInfo& a = info();
  if (a.flavours > 1 || !given("flavours")) return;
  std::vector<std::string> makers;
  for (const auto& [extension, p] : extensions(a))
    if (extension->flavours > 1) makers.push_back(called(p->name));
  refuse_given({"flavours"}, fmt::format("belongs to two flavours, which {} makes", fmt::join(makers, " or ")));
}

std::string default_solver(const ActionInfo& a) { return a.anti_hermitian || !a.chain.empty() ? "cg" : "auto"; }

GivenFields read_fields(const ActionInfo& action, const std::vector<std::string>& given, const Lattice& lattice,
                        const Session& session, const Wording& wording) {
  GivenFields fields;
  const std::string by = wording.name("field");
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto all = action.fields;
    const auto field = std::find_if(all.begin(), all.end(),
                                    [&](const ActionField& f) { return f.name == name && f.origin == Origin::given; });
    if (equals == std::string::npos) throw UsageError(fmt::format("{} '{}' is not NAME=FILE", by, text));
    const bool added = name == given_term && takes_term(action);
    if (field == all.end() && !added) {
      std::vector<std::string_view> known;
      for (const ActionField& f : all)
        if (f.origin == Origin::given) known.push_back(f.name);
      if (takes_term(action)) known.push_back(given_term);
      throw UsageError(
          fmt::format("{} {}: action {} takes {}", by, name, listed_name(action),
                      known.empty() ? "no field besides the links" : fmt::format("{}", fmt::join(known, ", "))));
    }
    const std::string_view kind = added ? given_term : field->kind;
    const std::string value = text.substr(equals + 1);
    const int place = added ? -1 : static_cast<int>(field - all.begin());
    const int hop = place == action.links[1] ? action.reach : place == action.links[0] ? 1 : 0;
    std::shared_ptr<GivenField> read = field_in_memory(value, kind, hop, lattice, session);
    if (read != nullptr) {
      // as it is
    } else if (kind == "scalars" && !value.empty() &&
               value.find_first_not_of("0123456789+-.eE:") == std::string::npos) {
      const auto parts = split(value, ':');
      const Complex64 z(number(parts[0], by + " " + name), parts.size() > 1 ? number(parts[1], by + " " + name) : 0);
      const std::vector<Complex64> everywhere(std::size_t(lattice.sites()), z);
      read = std::make_shared<GivenField>(given_field(kind, lattice, everywhere));
    } else {
      const std::size_t colon = std::filesystem::exists(value) ? std::string::npos : value.rfind(':');
      const std::string dataset = colon == std::string::npos ? name : value.substr(colon + 1);
      const std::string file = value.substr(0, colon);
      if (!std::filesystem::exists(file))
        throw UsageError(fmt::format("{} {}={}: {}there is no file {}", by, name, value,
                                     session.in_memory ? "no field of that name is with the links, and " : "", file));
      session.reading("field", file);
      read = std::make_shared<GivenField>(read_field(file, dataset, kind, lattice));
    }
    if (read->kind == "matrices") read->unitary = is_multiple_of_unitary(read->links, session.ranks());
    if (!fields.emplace(name, std::move(read)).second)
      throw UsageError(fmt::format("{} {} is given twice; give it once", by, name));
  }
  for (const ActionField& f : action.fields)
    if (f.origin == Origin::given && !fields.contains(f.name))
      throw UsageError(fmt::format("{} needs {} {}=FILE: {} of its statement",
                                   wording.with("action", listed_name(action)), by, f.name, f.kind));
  return fields;
}

ActionChoice ActionDescription::choose(const GaugeLinks& links, Session& session, bool recorded) const {
  require_su3(links, gauge, allow_non_su3, session);
  const ActionInfo& a = info();
  const ActionReader read = reader();
  const auto [source, sink] = flavours_of(flavours, wording);
  const Action chosen(read.values(), {.boundary = choose_boundary(boundary, links, session, wording),
                                      .source = source,
                                      .sink = sink,
                                      .fields = read_fields(a, field, links.lattice(), session, wording)});
  const std::vector<double> masses = read.masses();
  return {chosen, recorded ? provenance_of(chosen, masses, session) : Provenance(), masses, default_solver(a)};
}

void ActionDescription::begin_with(const ActionDescription& other, const Table& differing) {
  action = other.action, folder = other.folder, boundary = other.boundary, slices = other.slices, field = other.field;
  const ActionInfo& a = other.info();
  for (const auto& [name, text] : other.parameters) {
    const auto mine = ActionReader::given_by(a, name);
    const bool replaced = std::any_of(differing.entries.begin(), differing.entries.end(), [&](const auto& entry) {
      const auto theirs = ActionReader::given_by(a, entry.first);
      return std::find_first_of(mine.begin(), mine.end(), theirs.begin(), theirs.end()) != mine.end();
    });
    if (!replaced) parameters.emplace(name, text);
  }
}

Action ActionDescription::make(const Lattice& lattice, const std::filesystem::path& folder,
                               const Session& session) const {
  const ActionReader read = reader();
  if (read.masses().size() > 1) refuse(Refusal::Kind::contradicts, "mass", "has several values; give one");
  std::vector<std::string> fields;
  for (const std::string& text : field) {
    const std::size_t at = text.find('=') + 1;
    const std::filesystem::path file = folder / text.substr(at);
    fields.push_back(std::filesystem::exists(file) ? text.substr(0, at) + file.string() : text);
  }
  return Action(read.values(), {.boundary = boundary_phases(boundary.empty() ? "antiperiodic" : boundary, wording),
                                .fields = read_fields(info(), fields, lattice, session, wording)});
}

}  // namespace quarksmith::runs
