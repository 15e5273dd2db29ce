#include "runs/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/listed.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {

std::vector<const Command*> all_commands() {
  const auto listed = quarksmith::listed<Command>();
  std::vector<const Command*> all(listed.begin(), listed.end());
  std::sort(all.begin(), all.end(), [](const Command* a, const Command* b) { return a->place < b->place; });
  return all;
}

const Command& command_named(std::string_view name) {
  std::vector<std::string> known;
  for (const Command* c : all_commands()) {
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
