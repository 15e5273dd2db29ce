#include "apps/option_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "apps/stated_options.hpp"
#include "runtime/error.hpp"
#include "solvers/krylov/solve.hpp"

namespace quarksmith::apps {
namespace {

/// An option, the one that decides whether it means something, and the values with which it does.
struct Rule {
  std::string option, selector;
  std::vector<std::string> values;
};

const std::vector<std::string> wilson_type = {"wilson", "clover", "twisted-mass", "twisted-clover"},
                               with_clover = {"clover", "twisted-clover"}, twisted = {"twisted-mass", "twisted-clover"},
                               five_dimensional = {"domain-wall", "moebius"};

/// Actions of Dirac quarks.
std::vector<std::string> spinor_actions() {
  std::vector<std::string> all = wilson_type;
  all.insert(all.end(), five_dimensional.begin(), five_dimensional.end());
  for (const ActionInfo* a : stated_actions())
    if (a->spins == 4) all.push_back(option_name(a->name));
  return all;
}

std::vector<Rule> own_rules() {
  const std::vector<std::string> spinors = spinor_actions();
  return {
      {"--kappa", "--action", wilson_type},    {"--anisotropy", "--action", wilson_type},
      {"--csw", "--action", with_clover},      {"--csw-r", "--action", with_clover},
      {"--csw-t", "--action", with_clover},    {"--mu", "--action", twisted},
      {"--epsilon", "--action", twisted},      {"--flavours", "--action", twisted},
      {"--ls", "--action", five_dimensional},  {"--m5", "--action", five_dimensional},
      {"--b5", "--action", {"moebius"}},       {"--c5", "--action", {"moebius"}},
      {"--u0", "--action", {"asqtad"}},        {"--naik-epsilon", "--action", {"hisq"}},
      {"--sink", "--action", spinors},         {"--smear-links", "--action", spinors},
      {"--basis", "--action", spinors},        {"--preconditioner", "--solver", {"gcr"}},
      {"--restart", "--solver", {"gcr"}},      {"--bicgstab-l", "--solver", {"bicgstab-l"}},
      {"--omega", "--solver", {"mr"}},         {"--shifts", "--solver", {"multishift"}},
      {"--updates", "--precision", {"mixed"}}, {"--delta", "--precision", {"mixed"}},
  };
}

/// The same for the parameters of stated actions.
std::vector<Rule> with_stated_actions(std::vector<Rule> all) {
  for (const ActionInfo* a : stated_actions()) {
    const std::string action = option_name(a->name);
    for (const ActionParameter& p : a->parameters) {
      const std::string option = "--" + option_name(p.name);
      if (option == "--mass") continue;  // all actions have one
      const auto rule = std::find_if(all.begin(), all.end(), [&](const Rule& r) { return r.option == option; });
      if (rule == all.end())
        all.push_back({option, "--action", {action}});
      else
        rule->values.push_back(action);
    }
  }
  return all;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = with_stated_actions(own_rules());
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
    throw UsageError(fmt::format("{} belongs to {} {}, not to {}; leave it out", rule.option, rule.selector,
                                 fmt::join(rule.values, ", "),
                                 solver ? fmt::format("{}", fmt::join(choices.solvers, ",")) : values[0]));
  }
}

void refuse_options(const CLI::App& command, const std::vector<std::string_view>& options, const std::string& why) {
  for (const std::string_view option : options)
    if (given(command, option)) throw UsageError(fmt::format("{} {}", option, why));
}

void refuse_infinite_numbers(CLI::App& app) {
  const CLI::Validator finite(
      [](std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && !std::isfinite(value))
          return fmt::format("{} is not a finite number", text);
        return std::string();
      },
      "");
  for (CLI::App* command : app.get_subcommands({}))
    for (CLI::Option* option : command->get_options())
      if (option->get_type_name().starts_with("FLOAT")) option->check(finite);
}

}  // namespace quarksmith::apps
