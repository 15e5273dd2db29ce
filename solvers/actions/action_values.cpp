#include "solvers/actions/action_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.hpp"

namespace quarksmith {

const ActionInfo& find_action(std::string_view name) {
  std::vector<std::string_view> known;
  for (const ActionInfo& info : actions()) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  throw UnknownName(fmt::format("action '{}' is unknown; this build knows {}", name, fmt::join(known, ", ")));
}

std::string option_name(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

ActionValues::ActionValues(const ActionInfo& info, const std::map<std::string, double>& given)
    : info_(&info), values_(info.parameters.size()) {
  for (const auto& [name, value] : given) place(name);
  for (std::size_t n = 0; n < values_.size(); ++n) {
    const ActionParameter& p = info.parameters[n];
    const auto found = given.find(std::string(p.name));
    if (found == given.end() && p.required)
      throw UsageError(fmt::format("action {} needs {}: {}", info.name, p.name, p.help));
    set(n, found == given.end() ? p.fallback : found->second);
  }
}

std::size_t ActionValues::place(std::string_view parameter) const {
  std::vector<std::string_view> names;
  for (const ActionParameter& p : info_->parameters) names.push_back(p.name);
  const auto found = std::find(names.begin(), names.end(), parameter);
  if (found == names.end())
    throw UsageError(
        fmt::format("{} is no parameter of action {}; it has {}", parameter, info_->name, fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

void ActionValues::set(std::size_t n, double value) {
  const ActionParameter& p = info_->parameters[n];
  if (!(value >= p.lower && value <= p.upper))
    throw UsageError(fmt::format("{} {} of action {}: use {}", p.name, value, info_->name, p.range));
  values_[n] = value;
}

ActionValues ActionValues::with(std::string_view parameter, double value) const {
  ActionValues other = *this;
  other.set(place(parameter), value);
  return other;
}

std::string ActionValues::text() const {
  std::string text;
  for (std::size_t n = 0; n < values_.size(); ++n)
    text += fmt::format("{}{} {}", n == 0 ? "" : ", ", info_->parameters[n].name, values_[n]);
  return text;
}

}  // namespace quarksmith
