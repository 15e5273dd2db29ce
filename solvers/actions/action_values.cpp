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

ActionValues::ActionValues(const ActionInfo& info, const std::map<std::string, double>& given) : info_(&info) {
  std::vector<std::string_view> names;
  for (const ActionParameter& p : info.parameters) names.push_back(p.name);
  for (const auto& [name, value] : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UsageError(
          fmt::format("{} is no parameter of action {}; it has {}", name, info.name, fmt::join(names, ", ")));
  for (const ActionParameter& p : info.parameters) {
    const auto found = given.find(std::string(p.name));
    if (found == given.end() && p.required)
      throw UsageError(fmt::format("action {} needs {}: {}", info.name, p.name, p.help));
    const double value = found == given.end() ? p.fallback : found->second;
    if (!(value >= p.lower && value <= p.upper))
      throw UsageError(
          fmt::format("{} {} of action {}: use a number from {} to {}", p.name, value, info.name, p.lower, p.upper));
    values_.push_back(value);
  }
}

std::string ActionValues::text() const {
  std::string text;
  for (std::size_t n = 0; n < values_.size(); ++n)
    text += fmt::format("{}{} {}", n == 0 ? "" : ", ", info_->parameters[n].name, values_[n]);
  return text;
}

}  // namespace quarksmith
