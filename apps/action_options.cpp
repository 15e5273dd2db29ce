#include "apps/action_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "solvers/actions/slice_transform.hpp"
#include "solvers/actions/wilson.hpp"

namespace quarksmith::apps {
namespace {

std::string dashed(std::string_view name) { return "--" + option_name(name); }

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

bool given(const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

std::string spelled(const CLI::App& command, const std::string& option) {
  return command.get_option(option)->results().back();
}

const ActionParameter* find_parameter(const ActionInfo& a, std::string_view name) {
  const auto found =
      std::find_if(a.parameters.begin(), a.parameters.end(), [&](const ActionParameter& p) { return p.name == name; });
  return found == a.parameters.end() ? nullptr : &*found;
}

/// The actions that another one means if parameters are given that they alone have, and those parameters.
std::vector<std::pair<const ActionInfo*, const ActionParameter*>> extensions(const ActionInfo& of) {
  std::vector<std::pair<const ActionInfo*, const ActionParameter*>> found;
  for (const ActionInfo& a : actions())
    if (a.extends == of.name)
      for (const ActionParameter& p : a.parameters)
        if (find_parameter(of, p.name) == nullptr) found.emplace_back(&a, &p);
  return found;
}

/// What an option is; actions for which it is the same stand together.
std::string help_of(const ActionOption& o) {
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

/// What a command line gives for a parameter.
struct Given {
  std::string option, text;
  std::vector<Complex64> numbers;  ///< one, several masses, or one for each slice
};

/// Reads the parameters of an action from a command line.
class Reader {
 public:
  Reader(const CLI::App& command, const ActionInfo& info, int slices)
      : command_(command), info_(info), slices_(slices) {
    for (const ActionParameter& p : info.parameters)
      if (given(command, dashed(p.name))) read(p);
    for (const ActionSpelling& s : info.spellings)
      if (given(command, dashed(s.name))) read(s);
    for (const ActionParameter& p : info.parameters) require(p);
  }

  ActionSettings settings() const {
    std::map<std::string, double> values;
    std::map<std::string, std::vector<Complex64>> of_slices;
    for (const auto& [name, g] : given_) {
      values.emplace(name, g.numbers[0].real());
      if (find_parameter(info_, name)->each_slice) of_slices.emplace(name, g.numbers);
    }
    return {.values = {info_, values}, .slices = slices_, .of_slices = of_slices};
  }
  /// Those given, or the default; 0 for actions without a mass.
  std::vector<double> masses() const {
    const ActionParameter* p = find_parameter(info_, "mass");
    const auto found = given_.find("mass");
    if (found == given_.end()) return {p == nullptr ? 0 : p->fallback};
    std::vector<double> all;
    for (const Complex64& z : found->second.numbers) all.push_back(z.real());
    return all;
  }

 private:
  void read(const ActionParameter& p) {
    Given g{dashed(p.name), spelled(command_, dashed(p.name)), {}};
    const std::vector<std::string> parts = split(g.text, ',');
    if (parts.size() > 1 && !p.several && !p.each_slice) one_alone(g, p);
    for (const std::string& part : parts) {
      const auto re_im = split(part, ':');
      if (re_im.size() > (p.each_slice ? 2 : 1))
        throw UsageError(
            fmt::format("{} '{}' is {}", g.option, part, p.each_slice ? "neither a number nor re:im" : "not a number"));
      g.numbers.emplace_back(number(re_im[0], g.option), re_im.size() == 2 ? number(re_im[1], g.option) : 0);
    }
    if (p.each_slice && g.numbers.size() == 1) g.numbers.assign(std::size_t(slices_), g.numbers[0]);
    if (p.each_slice && int(g.numbers.size()) != slices_)
      throw UsageError(fmt::format("{} has {} numbers for --ls {}; give one, or one for each slice", g.option,
                                   g.numbers.size(), slices_));
    add(p, std::move(g));
  }

  void read(const ActionSpelling& s) {
    const std::string option = dashed(s.name), text = spelled(command_, option);
    const std::vector<std::string> parts = split(text, ',');
    if (parts.size() != split(std::string(s.numbers), ',').size())
      throw UsageError(fmt::format("{} '{}' is not {}", option, text, s.numbers));
    std::vector<double> numbers;
    for (const std::string& part : parts) {
      numbers.push_back(number(part, option));
      if (!(numbers.back() >= s.lower && numbers.back() <= s.upper))
        throw UsageError(fmt::format("{} {}: use {}", option, text, s.range));
    }
    for (const auto& [name, function] : s.gives)
      if (function != nullptr) add(*find_parameter(info_, name), {option, text, {function(numbers.data())}});
  }

  void add(const ActionParameter& p, Given g) {
    if (const auto other = given_.find(std::string(p.name)); other != given_.end())
      throw UsageError(fmt::format("{} needs exactly one of {} and {}: both give {}", command_.get_name(),
                                   other->second.option, g.option, option_name(p.name)));
    for (const Complex64& z : g.numbers)
      if (!(z.real() >= p.lower && z.real() <= p.upper))
        throw UsageError(fmt::format("{} {} of action {}: {}use {}", g.option, g.text, listed_name(info_),
                                     g.option == dashed(p.name) ? "" : fmt::format("{} {}; ", p.name, z.real()),
                                     p.range));
    given_.emplace(p.name, std::move(g));
  }

  /// \throws UsageError the parameter has no default and nothing gives it.
  void require(const ActionParameter& p) const {
    if (!p.required || given_.contains(std::string(p.name))) return;
    std::vector<std::string> options = {dashed(p.name)};
    for (const ActionSpelling& s : info_.spellings)
      for (const auto& [name, function] : s.gives)
        if (name == p.name) options.push_back(dashed(s.name));
    const std::string needs = options.size() > 1 ? fmt::format("exactly one of {}", fmt::join(options, " and "))
                                                 : fmt::format("{} {}", options[0], upper_case(option_name(p.name)));
    throw UsageError(fmt::format("--action {} needs {}: {}", option_name(info_.name), needs, p.help));
  }

  [[noreturn]] static void one_alone(const Given& g, const ActionParameter& p) {
    const auto takes = action_names([&](const ActionInfo& a) {
      const ActionParameter* same = find_parameter(a, p.name);
      return same != nullptr && same->several;
    });
    throw UsageError(fmt::format("{} {}: {}give one", g.option, g.text,
                                 takes.empty() ? "" : fmt::format("several belong to {}; ", fmt::join(takes, ", "))));
  }

  const CLI::App& command_;
  const ActionInfo& info_;
  int slices_;
  std::map<std::string, Given> given_;
};

/// SOURCE,SINK of two flavours.
std::array<int, 2> flavours_of(const std::string& text) {
  if (text != "0,0" && text != "0,1" && text != "1,0" && text != "1,1")
    throw UsageError(fmt::format("--flavours '{}' is not SOURCE,SINK, each 0 or 1", text));
  return {text[0] - '0', text[2] - '0'};
}

/// --flavours of an action of one flavour that others of two extend.
[[noreturn]] void refuse_flavours(const ActionInfo& info) {
  std::vector<std::string> makers;
  for (const auto& [action, p] : extensions(info))
    if (action->flavours > 1) makers.push_back(dashed(p->name));
  throw UsageError(fmt::format("--flavours belongs to two flavours, which {} makes", fmt::join(makers, " or ")));
}

/// Real numbers stay such.
ProvenanceValue recorded(const std::vector<Complex64>& numbers) {
  if (std::any_of(numbers.begin(), numbers.end(), [](const Complex64& z) { return z.imag() != 0; })) return numbers;
  std::vector<double> real;
  for (const Complex64& z : numbers) real.push_back(z.real());
  return real;
}

Provenance provenance_of(const ActionSettings& s, const std::vector<double>& masses) {
  const ActionInfo& info = s.values.info();
  Provenance all = {{"action", listed_name(info)}};
  for (const ActionParameter& p : info.parameters) {
    const std::string name(p.name);
    if (p.each_slice)
      all[name] = recorded(s.of_slices.contains(name) ? s.of_slices.at(name)
                                                      : std::vector<Complex64>(s.slices, s.values[name]));
    else
      all[name] = s.values[name];
  }
  if (info.spins == 1) all["mass"] = masses;                                         // columns of each
  for (const auto& [action, p] : extensions(info)) all[std::string(p->name)] = 0.0;  // is not that action
  if (!info.chain.empty()) all["ls"] = static_cast<long long>(s.slices);
  if (info.flavours > 1) all["flavours"] = std::vector<long long>{s.source, s.sink};
  all["boundary"] = std::vector<Complex64>(s.boundary.begin(), s.boundary.end());
  return all;
}

std::string spelled(const std::string& text) { return text; }
std::string spelled(double x) { return fmt::format("{:.17g}", x); }
std::string spelled(long long n) { return fmt::format("{}", n); }
std::string spelled(const Complex64& z) {
  return z.imag() == 0 ? spelled(z.real()) : fmt::format("{:.17g}:{:.17g}", z.real(), z.imag());
}
template <class T>
std::string spelled(const std::vector<T>& list) {
  std::string text;
  for (const T& x : list) text += (text.empty() ? "" : ",") + spelled(x);
  return text;
}

}  // namespace

const std::vector<ActionOption>& action_options() {
  static const std::vector<ActionOption> all = [] {
    std::vector<ActionOption> found;
    const auto add = [&](std::string_view name, const ActionInfo& a, std::string_view help, bool list) {
      auto option = std::find_if(found.begin(), found.end(), [&](const auto& o) { return o.name == dashed(name); });
      if (option == found.end()) option = found.insert(option, {dashed(name), false, {}});
      option->list |= list;
      option->help.emplace(&a, help);
    };
    for (const ActionInfo& a : actions()) {
      if (!a.offered) continue;
      for (const ActionParameter& p : a.parameters) add(p.name, a, p.help, p.several || p.each_slice);
      for (const ActionSpelling& s : a.spellings) add(s.name, a, s.help, s.numbers != s.name);
    }
    return found;
  }();
  return all;
}

std::string listed_name(const ActionInfo& a) { return option_name(a.extends.empty() ? a.name : a.extends); }

std::vector<std::string> action_names(const std::function<bool(const ActionInfo&)>& has) {
  std::vector<std::string> names;
  for (const ActionInfo& a : actions())
    if (a.offered && has(a) && std::find(names.begin(), names.end(), listed_name(a)) == names.end())
      names.push_back(listed_name(a));
  return names;
}

Phases boundary_phases(const std::string& text) {
  if (text == "periodic") return {1, 1, 1, 1};
  if (text == "antiperiodic") return {1, 1, 1, -1};
  Phases phases;
  const std::array<double, 4> angles = four_numbers(text, "--boundary (periodic, antiperiodic or a,b,c,d)");
  for (int mu = 0; mu < directions; ++mu) phases[mu] = WilsonParameters::phase_of(angles[mu]);
  return phases;
}

Phases choose_boundary(const std::string& boundary, const HostGauge& gauge, const CommonOptions& common) {
  const bool in_file = gauge.phase != Phases{1, 1, 1, 1};
  if (!boundary.empty()) {
    if (in_file) common.info("--boundary replaces the boundary phase that was found in the links");
    return boundary_phases(boundary);
  }
  return in_file ? gauge.phase : boundary_phases("antiperiodic");
}

std::map<std::string, std::string> texts_of(const Provenance& provenance) {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : provenance)
    all.emplace(name, std::visit([](const auto& x) { return spelled(x); }, value));
  std::string phases;
  for (const Complex64& z : std::get<std::vector<Complex64>>(provenance.at("boundary")))
    phases += fmt::format("{:.17g}{:+.17g}i ", z.real(), z.imag());
  all["boundary"] = phases;
  return all;
}

void ActionOptions::add_to(CLI::App& c) {
  c.add_option("--gauge", gauge,
               "FILE, unit:X,Y,Z,T, weak:EPS:X,Y,Z,T:SEED, hot:X,Y,Z,T:SEED or peer-random:X,Y,Z,T:SEED")
      ->required();
  c.add_option("--lattice", lattice, "extents X,Y,Z,T, for files that do not record them");
  add_allow_non_su3(c, allow_non_su3);
  c.add_option("--action", action, fmt::format("{} (docs/actions.md)", fmt::join(action_names(), ", ")))
      ->capture_default_str();
  for (const ActionOption& o : action_options()) {
    const auto check_numbers = [&o](const std::string& text) {
      for (const std::string& part : split(text, ','))
        for (const std::string& one : split(part, ':')) number(one, o.name);
    };
    if (o.list)
      c.add_option_function<std::string>(o.name, check_numbers, help_of(o));
    else
      c.add_option_function<double>(o.name, [](const double&) {}, help_of(o));
  }
  c.add_option("--flavours", flavours, "of actions with two, 0 or 1: SOURCE,SINK")->capture_default_str();
  c.add_option("--ls", slices, "slices of actions with a fifth dimension")
      ->check(CLI::Range(1, most_slices))
      ->capture_default_str();
  c.add_option("--boundary", boundary, "periodic, antiperiodic (default) or phases a,b,c,d in units of pi");
}

const ActionInfo& ActionOptions::info(const CLI::App& command) const {
  const auto chosen = std::find_if(actions().begin(), actions().end(),
                                   [&](const ActionInfo& a) { return a.offered && option_name(a.name) == action; });
  if (chosen == actions().end())
    throw UsageError(fmt::format("action '{}' is unknown; use {}", action, fmt::join(action_names(), ", ")));
  for (const auto& [extension, p] : extensions(*chosen))
    if (given(command, dashed(p->name))) return *extension;
  return *chosen;
}

std::string default_solver(const ActionInfo& a) { return a.spins == 1 || !a.chain.empty() ? "cg" : "auto"; }

void ActionOptions::check(const CLI::App& command) const {
  choose(command, boundary_phases(boundary.empty() ? "periodic" : boundary));
}

ActionChoice ActionOptions::choose(const CLI::App& command, const HostGauge& links, const CommonOptions& common) const {
  require_su3(links, gauge, allow_non_su3, common);
  return choose(command, choose_boundary(boundary, links, common));
}

ActionChoice ActionOptions::choose(const CLI::App& command, const Phases& phases) const {
  const ActionInfo& a = info(command);
  const Reader reader(command, a, a.chain.empty() ? 1 : slices);
  ActionSettings settings = reader.settings();
  settings.boundary = phases;
  if (a.flavours == 1 && given(command, "--flavours")) refuse_flavours(a);
  const auto [source, sink] = flavours_of(flavours);
  settings.source = source;
  settings.sink = sink;
  const std::vector<double> masses = reader.masses();
  return {make_action(settings), phases, provenance_of(settings, masses), masses, default_solver(a)};
}

}  // namespace quarksmith::apps
