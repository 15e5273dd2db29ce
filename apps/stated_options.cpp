#include "apps/stated_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/error.hpp"
#include "solvers/formula_action.hpp"
#include "solvers/stated.hpp"

namespace quarksmith::apps {
namespace {

/// Actions whose parameters have options that are older than their statements, in units and combinations of their own.
constexpr std::array<std::string_view, 10> with_own_options = {
    "wilson",      "clover",  "twisted_mass", "twisted_clover",    "twisted_doublet", "twisted_clover_doublet",
    "domain_wall", "moebius", "staggered",    "improved_staggered"};

std::string help(const ActionInfo& action, const ActionParameter& p) {
  std::string text = fmt::format("{}: {}", option_name(action.name), p.help);
  if (!p.unit.empty()) text += fmt::format(" in {}", p.unit);
  if (p.lower != -unbounded || p.upper != unbounded) text += fmt::format(", {} to {}", p.lower, p.upper);
  return p.required ? text : text + fmt::format(" (default {})", p.fallback);
}

}  // namespace

const std::vector<const ActionInfo*>& stated_actions() {
  static const std::vector<const ActionInfo*> all = [] {
    std::vector<const ActionInfo*> found;
    for (const ActionInfo& a : actions())
      if ((StatedAction::serves(a) || FormulaAction::serves(a)) &&
          std::find(with_own_options.begin(), with_own_options.end(), a.name) == with_own_options.end())
        found.push_back(&a);
    return found;
  }();
  return all;
}

const ActionInfo* stated_action(const std::string& option) {
  for (const ActionInfo* a : stated_actions())
    if (option_name(a->name) == option) return a;
  return nullptr;
}

std::string more_actions() {
  std::string text;
  for (const ActionInfo* a : stated_actions()) text += ", " + option_name(a->name);
  return text;
}

std::string described_actions() {
  std::string text;
  for (const ActionInfo* a : stated_actions()) text += fmt::format("; {}: {}", option_name(a->name), a->text);
  return text;
}

void add_stated_options(CLI::App& command) {
  for (const ActionInfo* a : stated_actions())
    for (const ActionParameter& p : a->parameters) {
      const std::string name = "--" + option_name(p.name);
      CLI::Option* option = command.get_option_no_throw(name);
      if (option == nullptr)
        command.add_option_function<double>(name, [](const double&) {}, help(*a, p));
      else
        option->description(option->get_description() + "; " + help(*a, p));
    }
}

std::shared_ptr<const Action> make_stated(const ActionValues& values, const BoundaryPhases& boundary) {
  if (FormulaAction::serves(values.info())) return std::make_shared<FormulaAction>(values, boundary);
  return std::make_shared<StatedAction>(values, boundary);
}

ActionValues stated_values(const ActionInfo& action, const CLI::App& command) {
  std::map<std::string, double> given;
  for (const ActionParameter& p : action.parameters) {
    const std::string name = "--" + option_name(p.name);
    const CLI::Option* option = command.get_option(name);
    if (option->count() > 0) {
      const double value = option->as<double>();
      if (!(value >= p.lower && value <= p.upper))
        throw UsageError(
            fmt::format("{} {} of action {}: use a number from {} to {}", name, value, action.name, p.lower, p.upper));
      given.emplace(p.name, value);
    } else if (p.required) {
      throw UsageError(fmt::format("--action {} needs {}: {}", option_name(action.name), name, p.help));
    }
  }
  return {action, given};
}

}  // namespace quarksmith::apps
