#include "runtime/action_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

const ActionInfo& find_in(std::span<const ActionInfo> table, std::string_view kind, std::string_view name) {
  std::vector<std::string_view> known;
  for (const ActionInfo& info : table) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  for (const RefusedAction& refused : refused_actions())
    if (refused.name == name) throw UnknownName(fmt::format("{} '{}' was not built: {}", kind, name, refused.why));
  throw UnknownName(fmt::format("{} '{}' is unknown; {}this build knows {}", kind, name,
                                suggestion(std::string(name), {known.begin(), known.end()}), fmt::join(known, ", ")));
}

std::string replaced(std::string_view name, char from, char to) {
  std::string text(name);
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

}  // namespace

const ActionInfo& find_action(std::string_view name) { return find_in(actions(), "action", name); }
const ActionInfo& find_smearing(std::string_view name) { return find_in(stated_smearings(), "smearing", name); }

std::string option_name(std::string_view name) { return replaced(name, '_', '-'); }
std::string stated_name(std::string_view option) { return replaced(option, '-', '_'); }

std::string text_of(const ActionValues::Value& value) {
  return value.imag() == 0 ? fmt::format("{}", value.real()) : fmt::format("{}:{}", value.real(), value.imag());
}

ActionValues::ActionValues(const ActionInfo& info, const Given& given, int slices) : info_(&info) {
  if (slices < 1) throw UsageError(fmt::format("{} on {} slices; use at least one", info.name, slices));
  if (slices > 1 && info.chain.empty())
    throw UsageError(fmt::format("{} slices of action {}, which has no fifth dimension; use 1", slices, info.name));
  values_.assign(std::size_t(slices), std::vector<Value>(info.parameters.size()));
  reals_.assign(std::size_t(slices), std::vector<double>(info.parameters.size()));
  for (const auto& [name, values] : given) {
    place(name);
    if (values.size() != 1 && values.size() != std::size_t(slices))
      throw UsageError(fmt::format("{} of action {} has {} values for {} slices; give one, or one for each slice", name,
                                   info.name, values.size(), slices));
  }
  for (std::size_t n = 0; n < info.parameters.size(); ++n) {
    const ActionParameter& p = info.parameters[n];
    const auto found = given.find(std::string(p.name));
    if (found == given.end() && p.required)
      throw UsageError(fmt::format("action {} needs {}: {}", info.name, p.name, p.help));
    for (int s = 0; s < slices; ++s)
      set(s, n, found == given.end() ? p.fallback : found->second[found->second.size() == 1 ? 0 : std::size_t(s)]);
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

bool ActionValues::has(std::string_view parameter) const {
  const auto all = info_->parameters;
  return std::any_of(all.begin(), all.end(), [&](const ActionParameter& p) { return p.name == parameter; });
}

void ActionValues::set(int slice, std::size_t n, Value value) {
  const ActionParameter& p = info_->parameters[n];
  if (!(value.real() >= p.lower && value.real() <= p.upper) || !(std::abs(value.imag()) < unbounded))
    throw UsageError(fmt::format("{} {} of action {}: use {}", p.name, text_of(value), info_->name,
                                 p.range.empty() ? "a number" : p.range));
  if (value.imag() != 0 && !p.complex && !p.each_slice)
    throw UsageError(
        fmt::format("{} {} of action {}: it is real; use one number", p.name, text_of(value), info_->name));
  values_[std::size_t(slice)][n] = value;
  reals_[std::size_t(slice)][n] = value.real();
}

std::vector<ActionValues::Value> ActionValues::of_slices(const ActionNumber& number) const {
  std::vector<Value> found;
  for (int s = 0; s < slices(); ++s) found.push_back(complex(number, s));
  return found;
}

std::vector<ActionValues::Value> ActionValues::all(std::string_view parameter) const {
  const std::size_t n = place(parameter);
  std::vector<Value> found;
  for (const auto& values : values_) found.push_back(values[n]);
  return found;
}

ActionValues ActionValues::with(std::string_view parameter, double value) const {
  ActionValues other = *this;
  for (int s = 0; s < slices(); ++s) other.set(s, place(parameter), value);
  return other;
}

std::optional<ActionValues> ActionValues::of_adjoint() const {
  if (info_->negated < 0) return {};
  ActionValues other = *this;
  std::reverse(other.values_.begin(), other.values_.end());
  std::reverse(other.reals_.begin(), other.reals_.end());
  for (std::size_t s = 0; s < other.values_.size(); ++s)
    for (std::size_t n = 0; n < info_->parameters.size(); ++n) {
      Value& value = other.values_[s][n];  // beyond a bound if need be: M is defined there, too
      value = info_->negated >> n & 1 ? -std::conj(value) : std::conj(value);
      other.reals_[s][n] = value.real();
    }
  return other;
}

std::string ActionValues::text() const {
  std::string text;
  for (const ActionParameter& p : info_->parameters) {
    std::vector<std::string> numbers;
    for (const Value& value : all(p.name)) numbers.push_back(text_of(value));
    const bool same = std::all_of(numbers.begin(), numbers.end(), [&](const auto& n) { return n == numbers[0]; });
    if (same) numbers.resize(1);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", p.name, fmt::join(numbers, ","));
  }
  return text;
}

}  // namespace quarksmith
