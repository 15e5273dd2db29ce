#include "apps/option_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "apps/action_options.hpp"
#include "runtime/error.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith::apps {
namespace {

/// An option, the one that decides whether it means something, and the values with which it does.
struct Rule {
  std::string option, selector;
  std::vector<std::string> values;
};

/// Made anew each time: programs add actions.
std::vector<Rule> rules() {
  std::vector<Rule> all = {
      {"--shifts", "--solver", {"multishift"}},
      {"--updates", "--precision", {"mixed"}},
      {"--delta", "--precision", {"mixed"}},
      {"--preconditioner", "--solver", {}},
  };
  std::vector<std::string> cycles;
  for (const MethodKind* kind : listed<MethodKind>())
    if (kind->cycle_fields > 0) cycles.emplace_back(kind->names[0]);
  for (const char* option : {"--mg", "--mg-load", "--mg-refresh", "--mg-save"})
    all.push_back({option, "--solver", cycles});
  for (const MethodKind* kind : listed<MethodKind>())
    if (kind->preconditioned) all[3].values.emplace_back(kind->names[0]);
  for (const MethodOption& o : method_options()) all.push_back({std::string(o.number->option), "--solver", o.methods});
  for (const ActionOption& o : action_options())
    all.push_back({o.name, "--action", action_names([&](const ActionInfo& a) { return o.help.contains(&a); })});
  const auto spinors = action_names([](const ActionInfo& a) { return a.spins == 4; });
  for (const char* option : {"--sink", "--smear-links", "--basis"}) all.push_back({option, "--action", spinors});
  all.push_back({"--ls", "--action", action_names([](const ActionInfo& a) { return !a.chain.empty(); })});
  all.push_back({"--flavours", "--action", action_names([](const ActionInfo& a) { return a.flavours > 1; })});
  return all;
}

/// The values of a selector on this command line.
std::vector<std::string> chosen(const Choices& c, std::string_view selector) {
  if (selector == "--action") return {c.action};
  if (selector == "--solver") {
    std::vector<std::string> all = c.solvers;
    const std::size_t begin = c.preconditioner.starts_with("schwarz-") ? 8 : 0;
    all.push_back(
        c.preconditioner.substr(begin, c.preconditioner.find(':') - begin));  // its steps have such numbers too
    return all;
  }
  const auto mixed = [](const std::string& p) { return precisions_of(p, 3).mixed(); };
  return {std::any_of(c.precisions.begin(), c.precisions.end(), mixed) ? "mixed" : "uniform"};
}

bool given(const CLI::App& command, std::string_view option) {
  const CLI::Option* found = command.get_option_no_throw(std::string(option));
  return found != nullptr && found->count() > 0;
}

}  // namespace

void check_options(const CLI::App& command, const Choices& choices) {
  for (const Rule& rule : rules()) {
    if (!given(command, rule.option)) continue;
    const std::vector<std::string> values = chosen(choices, rule.selector);
    const auto allowed = [&](const std::string& v) {
      return std::find(rule.values.begin(), rule.values.end(), v) != rule.values.end();
    };
    if (std::any_of(values.begin(), values.end(), allowed)) continue;
    if (rule.values[0] == "mixed")
      throw UsageError(fmt::format("{} belongs to mixed precision, as --precision double-half, not to {}; leave it out",
                                   rule.option, fmt::join(choices.precisions, ",")));
    const bool solver = rule.selector == "--solver";
    throw UsageError(fmt::format("{} belongs to {} {}, not to {}; add {} {}, or leave it out", rule.option,
                                 rule.selector, fmt::join(rule.values, ", "),
                                 solver ? fmt::format("{}", fmt::join(choices.solvers, ",")) : values[0], rule.selector,
                                 rule.values[0]));
  }
}

void refuse_options(const CLI::App& command, const std::vector<std::string_view>& options, const std::string& why) {
  for (const std::string_view option : options)
    if (given(command, option)) throw UsageError(fmt::format("{} {}", option, why));
}

void refuse_impossible_numbers(CLI::App& app) {
  const CLI::Validator finite(
      [](std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && !std::isfinite(value))
          return fmt::format("{} is not a finite number", text);
        return std::string();
      },
      "");
  const CLI::Validator positive(  // they would be counted from the other end
      [](std::string& text) { return text.starts_with('-') ? fmt::format("{} is negative", text) : std::string(); },
      "");
  for (CLI::App* command : app.get_subcommands({}))
    for (CLI::Option* option : command->get_options()) {
      if (option->get_type_name().starts_with("FLOAT")) option->check(finite);
      if (option->get_type_name().starts_with("UINT")) option->check(positive);
    }
}

}  // namespace quarksmith::apps
