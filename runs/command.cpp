#include "runs/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/text.hpp"

namespace quarksmith::runs {
namespace all_commands {

extern const Command info, list, convert, links, heatbath, hmc, smear, flow, apply, propagator, correlators, measure,
    eigen, multigrid, solve_bench, bench, accuracy, scaling, sweep, devices, model;

}  // namespace all_commands

std::span<const Command* const> commands() {
  static constexpr const Command* all[] = {
      &all_commands::info,     &all_commands::list,       &all_commands::convert,     &all_commands::links,
      &all_commands::heatbath, &all_commands::hmc,        &all_commands::smear,       &all_commands::flow,
      &all_commands::apply,    &all_commands::propagator, &all_commands::correlators, &all_commands::measure,
      &all_commands::eigen,    &all_commands::multigrid,  &all_commands::solve_bench, &all_commands::bench,
      &all_commands::accuracy, &all_commands::scaling,    &all_commands::sweep,       &all_commands::devices,
      &all_commands::model};
  return all;
}

const Command& command_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Command* c : commands()) {
    if (c->of_shell) continue;
    if (c->name == name) return *c;
    known.emplace_back(c->name);
  }
  const std::string asked(name);
  throw UnknownName(fmt::format("command '{}' is unknown; {}use {}", printable(asked), suggestion(asked, known),
                                fmt::join(known, ", ")));
}

Call::Call(const Command& command, Session& session) : command_(command), session_(session), task_(command.make()) {
  session_.uses = command.uses;
  task_->description().list(members_);
  session_.list(members_);
}

}  // namespace quarksmith::runs
