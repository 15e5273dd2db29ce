#include "runs/action_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {
namespace {

std::string upper_case(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');  // in any locale
  return text;
}

using Kind = Refusal::Kind;

}  // namespace

std::string listed_name(const ActionInfo& a) { return option_name(a.extends.empty() ? a.name : a.extends); }

std::vector<std::string> action_names(const std::function<bool(const ActionInfo&)>& has) {
  std::vector<std::string> names;
  for (const ActionInfo& a : actions())
    if (has(a) && std::find(names.begin(), names.end(), listed_name(a)) == names.end()) names.push_back(listed_name(a));
  return names;
}

const ActionParameter* find_parameter(const ActionInfo& a, std::string_view name) {
  const auto found =
      std::find_if(a.parameters.begin(), a.parameters.end(), [&](const ActionParameter& p) { return p.name == name; });
  return found == a.parameters.end() ? nullptr : &*found;
}

std::vector<std::pair<const ActionInfo*, const ActionParameter*>> extensions(const ActionInfo& of) {
  std::vector<std::pair<const ActionInfo*, const ActionParameter*>> found;
  for (const ActionInfo& a : actions())
    if (a.extends == of.name)
      for (const ActionParameter& p : a.parameters)
        if (find_parameter(of, p.name) == nullptr) found.emplace_back(&a, &p);
  return found;
}

const ActionInfo& ActionReader::meant(const std::string& name, const Texts& given) {
  const std::string stated = stated_name(name);
  const auto chosen = std::find_if(actions().begin(), actions().end(),
                                   [&](const ActionInfo& a) { return option_name(a.name) == name; });
  for (const RefusedAction& refused : refused_actions())
    if (refused.name == stated) throw UnknownName(fmt::format("action '{}' was not built: {}", name, refused.why));
  if (chosen == actions().end())
    throw UnknownName(fmt::format("action '{}' is unknown; {}use {}", name, suggestion(name, action_names()),
                                  fmt::join(action_names(), ", ")));
  for (const auto& [extension, p] : extensions(*chosen))
    if (given.contains(p->name)) return *extension;
  return *chosen;
}

std::vector<std::string_view> ActionReader::given_by(const ActionInfo& info, std::string_view name) {
  if (const ActionParameter* p = find_parameter(info, name)) return {p->name};
  std::vector<std::string_view> all;
  for (const ActionAlternative& s : info.alternatives)
    for (const NamedNumber& n : s.gives)
      if (s.name == name && !n.name.empty()) all.push_back(n.name);
  return all;
}

ActionReader::ActionReader(const ActionInfo& info, const Texts& given, int slices, const Wording& wording)
    : info_(info), slices_(slices), wording_(wording) {
  for (const auto& [name, text] : given) {
    if (!given_by(info, name).empty()) continue;
    const auto others = action_names([&](const ActionInfo& a) { return !given_by(a, name).empty(); });
    refuse(Kind::applies, name,
           fmt::format("belongs to {} {}, not to {}; leave it out", wording_.name("action"), fmt::join(others, ", "),
                       listed_name(info)));
  }
  for (const ActionParameter& p : info.parameters)
    if (const auto text = given.find(p.name); text != given.end()) read(p, text->second);
  for (const ActionAlternative& s : info.alternatives)
    if (const auto text = given.find(s.name); text != given.end()) read(s, text->second);
  for (const ActionParameter& p : info.parameters) require(p);
}

void ActionReader::refuse(Kind kind, const std::string& by, const std::string& why) const {
  throw Refusal(kind, by, 0, fmt::format("{} {}", wording_.name(by), why));
}

double ActionReader::number_in(const std::string& text, const std::string& by) const {
  try {
    return number(text, wording_.name(by));
  } catch (const UsageError& e) {
    throw Refusal(Kind::type, by, 0, e.what());
  }
}

ActionValues ActionReader::values() const {
  ActionValues::Given values;
  for (const auto& [name, g] : given_) {
    const bool of_slices = find_parameter(info_, name)->each_slice;
    values.emplace(name, of_slices ? g.numbers : std::vector{g.numbers[0]});
  }
  return {info_, values, info_.chain.empty() ? 1 : slices_};
}

std::vector<double> ActionReader::masses() const {
  const ActionParameter* p = find_parameter(info_, "mass");
  const auto found = given_.find("mass");
  if (found == given_.end()) return {p == nullptr ? 0 : p->fallback};
  std::vector<double> all;
  for (const auto& z : found->second.numbers) all.push_back(z.real());
  return all;
}

void ActionReader::read(const ActionParameter& p, const std::string& text) {
  Given g{std::string(p.name), text, {}};
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() > 1 && !p.several && !p.each_slice) require_one(g, p);
  const bool is_complex = p.each_slice || p.complex;
  for (const std::string& part : parts) {
    const auto re_im = split(part, ':');
    if (re_im.size() > (is_complex ? 2 : 1))
      refuse(Kind::type, g.by,
             fmt::format("'{}' is {}", part, is_complex ? "neither a number nor re:im" : "not a number"));
    g.numbers.emplace_back(number_in(re_im[0], g.by), re_im.size() == 2 ? number_in(re_im[1], g.by) : 0);
  }
  if (p.each_slice && g.numbers.size() == 1) g.numbers.assign(std::size_t(slices_), g.numbers[0]);
  if (p.each_slice && int(g.numbers.size()) != slices_)
    refuse(Kind::contradicts, g.by,
           fmt::format("has {} numbers for {} {}; give one, or one for each slice", g.numbers.size(),
                       wording_.name("ls"), slices_));
  add(p, std::move(g));
}

void ActionReader::read(const ActionAlternative& s, const std::string& text) {
  const std::string by(s.name);
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != split(std::string(s.numbers), ',').size())
    refuse(Kind::type, by, fmt::format("'{}' is not {}", text, s.numbers));
  std::vector<double> numbers;
  for (const std::string& part : parts) {
    numbers.push_back(number_in(part, by));
    if (!(numbers.back() >= s.lower && numbers.back() <= s.upper))
      refuse(Kind::range, by, fmt::format("{}: use {}", text, s.range));
  }
  const std::vector<ActionValues::Value> values(numbers.begin(), numbers.end());
  for (const auto& [name, given] : s.gives)
    if (given) add(*find_parameter(info_, name), {by, text, {given(numbers.data(), values.data())}});
}

void ActionReader::add(const ActionParameter& p, Given g) {
  if (const auto other = given_.find(p.name); other != given_.end())
    throw Refusal(Kind::contradicts, g.by, 0,
                  fmt::format("{}needs exactly one of {} and {}: both give {}",
                              wording_.door == Door::toml ? "" : wording_.subject + " ",
                              wording_.name(other->second.by), wording_.name(g.by), option_name(p.name)));
  for (const auto& z : g.numbers)
    if (!(z.real() >= p.lower && z.real() <= p.upper))
      refuse(Kind::range, g.by,
             fmt::format("{} of action {}: {}use {}", g.text, listed_name(info_),
                         g.by == p.name ? "" : fmt::format("{} {}; ", p.name, z.real()), p.range));
  given_.emplace(p.name, std::move(g));
}

void ActionReader::require(const ActionParameter& p) const {
  if (!p.required || given_.contains(p.name)) return;
  std::vector<std::string> ways = {wording_.name(p.name)};
  for (const ActionAlternative& s : info_.alternatives)
    for (const auto& [name, given] : s.gives)
      if (name == p.name) ways.push_back(wording_.name(s.name));
  const std::string needs = ways.size() > 1 ? fmt::format("exactly one of {}", fmt::join(ways, " and "))
                                            : fmt::format("{} {}", ways[0], upper_case(option_name(p.name)));
  throw Refusal(Kind::missing, std::string(p.name), 0,
                fmt::format("{} {} needs {}: {}", wording_.name("action"), option_name(info_.name), needs, p.help));
}

void ActionReader::require_one(const Given& g, const ActionParameter& p) const {
  const auto several = action_names([&](const ActionInfo& a) {
    const ActionParameter* same = find_parameter(a, p.name);
    return same != nullptr && same->several;
  });
  refuse(Kind::type, g.by,
         fmt::format("{}: {}give one", g.text,
                     several.empty() ? "" : fmt::format("several belong to {}; ", fmt::join(several, ", "))));
}

}  // namespace quarksmith::runs
