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

void enter(Description& description, Description& fresh, Session& session, const Command& command) {
  Session fresh_session;
  Members members, before;
  session.uses = fresh_session.uses = command.uses;
  session.in_memory = true;
  description.list(members);
  session.list(members);
  fresh.list(before);
  fresh_session.list(before);
  for (Description* part : members.parts()) part->forget_given();
  Table given;
  for (Member& m : members.all())
    if (const Member* was = before.find(m.name()); was == nullptr || was->text() != m.text())
      given.entries.emplace_back(m.name(), m.take());
  fill(members, given, {Door::cpp, std::string(command.name), {}});
}

Call::Call(const Command& command, Session& session) : command_(command), session_(session), task_(command.make()) {
  session_.uses = command.uses;
  task_->description().list(members_);
  session_.list(members_);
}

}  // namespace quarksmith::runs
