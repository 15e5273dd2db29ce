// Every member of every command, as each door gives it: what is refused, by kind of mistake, member and line. The
// command line is read as `quarksmith` reads it; C (tests/c/refusals_test.cpp) and Python
// (tests/command/test_python.py) have tests of their own, which go through the same members.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>

#include "apps/commands.hpp"
#include "runs/action.hpp"
#include "tests/wrong_values.hpp"

using namespace quarksmith;
using namespace quarksmith::runs;
using Kind = Refusal::Kind;

namespace {

using Entries = std::vector<std::pair<std::string, Value>>;

/// A command line of values.
std::vector<std::string> words_of_line(const Command& command, const Entries& entries) {
  std::vector<std::string> words = {"quarksmith", std::string(command.name)};
  Session session;
  runs::Call call(command, session);
  for (const auto& [name, value] : entries) {
    const Member* m = call.members().find(name);
    if (m == nullptr || !m->is_positional()) words.push_back(Wording{}.name(name));
    if (m == nullptr || !m->is_flag()) words.push_back(word_of(value));
  }
  return words;
}

int perform_words(const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  return apps::perform(static_cast<int>(pointers.size()), pointers.data());
}

/// What a command, which must not start, is refused for.
std::optional<Refusal> refusal_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Refusal& refusal) {
    return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> refusal_of(const Command& command, Door door, const Entries& entries) {
  return refusal_of([&] {
    if (door == Door::command) {
      perform_words(words_of_line(command, entries));
      return;
    }
    Session session;
    runs::Call(command, session).fill({entries, 0}, {door, std::string(command.name), "run.toml"});
  });
}

void expect_refusal(const Command& command, Door door, const Entries& entries, Kind kind, const std::string& member) {
  const std::optional<Refusal> refusal = refusal_of(command, door, entries);
  std::string said = fmt::format("{} at door {}", command.name, int(door));
  for (const auto& [name, value] : entries)
    said += fmt::format(" {}={}", name, std::holds_alternative<Table>(value.value) ? "{}" : word_of(value));
  ASSERT_TRUE(refusal) << said << " is taken";
  EXPECT_EQ(int(refusal->kind), int(kind)) << said << ": " << refusal->what();
  EXPECT_EQ(refusal->member, member) << said << ": " << refusal->what();
  EXPECT_EQ(refusal->line, door == Door::command ? 0 : line_of_values) << said << ": " << refusal->what();
  const std::string text = refusal->what(), named = Wording{door, "", ""}.name(member);
  EXPECT_TRUE(text.find(named) != std::string::npos || text.find(member) != std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_EQ(text.starts_with("run.toml:7: "), door == Door::toml) << text;
}

/// Calls `work` with each member of each command at each door. \return how many there are.
int for_all_members(const std::function<void(const Command&, Door, const Member&)>& work) {
  int count = 0;
  for (const Command* command : all_commands()) {
    Session session;
    runs::Call call(*command, session);
    for (const Member& m : call.members().all()) {
      if (m.is_hidden()) continue;
      for (const Door door : {Door::command, Door::toml, Door::c, Door::python}) work(*command, door, m);
      ++count;
    }
  }
  return count;
}

/// What a command cannot do without, but for one member.
Entries required_of(const Command& command, Door door, std::string_view but) {
  Entries all;
  Session session;
  runs::Call call(command, session);
  for (const Member& m : call.members().all())
    if ((m.is_required() || m.name() == "mass") && m.name() != but) all.emplace_back(m.name(), right_value(m, door));
  return all;
}

}  // namespace

TEST(Refusals, AnUnknownNameIsToldWithTheNearest) {
  const int members = for_all_members([](const Command& command, Door door, const Member& m) {
    const std::string name = misspelt(m.name());
    expect_refusal(command, door, {{name, given(std::string("1"), door)}}, Kind::unknown, name);
    if (m.name().size() < 5 || m.is_positional()) return;
    const auto refusal = refusal_of(command, door, {{name, given(std::string("1"), door)}});
    const std::string nearest = "did you mean " + Wording{door, "", ""}.name(m.name()) + "?";
    EXPECT_TRUE(refusal && std::string(refusal->what()).find(nearest) != std::string::npos) << refusal->what();
  });
  EXPECT_GT(members, 400);
}

TEST(Refusals, TypesRangesAndWordsAreKept) {
  int wrong = 0;
  for_all_members([&](const Command& command, Door door, const Member& m) {
    for (const WrongValue& w : wrong_values(m, door)) {
      if (door == Door::command && word_of(w.value).empty()) continue;  // below
      expect_refusal(command, door, {{m.name(), w.value}}, w.kind, m.name());
      ++wrong;
    }
  });
  EXPECT_GT(wrong, 2000);
}

TEST(Refusals, BoundsThatAreAllowedAreTaken) {
  int bounds = 0;
  for_all_members([&](const Command& command, Door door, const Member& m) {
    for (const auto& [bound, allowed] : {std::pair{m.lower(), m.lower_allowed()}, {m.upper(), m.upper_allowed()}}) {
      if (!std::isfinite(bound) || !allowed) continue;
      Session session;
      runs::Call call(command, session);
      const Wording wording{door, std::string(command.name), "run.toml"};
      EXPECT_NO_THROW(call.members().find(m.name())->set(number_for(m, bound, door), wording)) << m.name();
      ++bounds;
    }
  });
  EXPECT_GT(bounds, 100);
}

TEST(Refusals, WhatIsGivenTwiceIsTold) {
  for_all_members([](const Command& command, Door door, const Member& m) {
    if (m.is_repeated() || (door == Door::command && (m.is_positional() || m.is_flag()))) return;
    const Value value = right_value(m, door);
    expect_refusal(command, door, {{m.name(), value}, {m.name(), value}}, Kind::twice, m.name());
  });
}

TEST(Refusals, WhatIsMissingIsTold) {
  int required = 0;
  for_all_members([&](const Command& command, Door door, const Member& m) {
    if (!m.is_required() || door == Door::command) return;
    const auto refusal = refusal_of(command, door, required_of(command, door, m.name()));
    ASSERT_TRUE(refusal) << command.name << " " << m.name();
    EXPECT_EQ(int(refusal->kind), int(Kind::missing)) << refusal->what();
    EXPECT_EQ(refusal->member, m.name()) << refusal->what();
    ++required;
  });
  EXPECT_GT(required, 40);
}

TEST(Refusals, AMemberIsRefusedWhereItMeansNothing) {
  const std::string all_actions = fmt::format("action {}", fmt::join(action_names(), ", "));
  int elsewhere = 0;
  for_all_members([&](const Command& command, Door door, const Member& m) {
    if (m.where().empty() || m.where() == all_actions) return;
    if (command.name == "multigrid" && m.name() == "mg") return;  // its solver is multigrid
    bool refused = false;
    for (const std::string& action : {std::string("wilson"), std::string("staggered")}) {
      Session session;
      runs::Call call(command, session);
      Entries entries = required_of(command, door, m.name());
      if (call.members().find("action") != nullptr) entries.emplace_back("action", given(action, door));
      if (m.where() == "mixed precision") entries.emplace_back("precision", given(std::string("double"), door));
      entries.emplace_back(m.name(), right_value(m, door));
      for (const auto& [name, value] : entries) call.members().find(name)->set(value, {door, "", ""});
      if (call.members().find(m.name())->why_not().empty()) continue;
      refused = true;
      const auto refusal = refusal_of(command, door, entries);
      ASSERT_TRUE(refusal) << command.name << " " << m.name();
      EXPECT_EQ(int(refusal->kind), int(Kind::applies)) << refusal->what();
    }
    elsewhere += refused;
    EXPECT_TRUE(refused) << command.name << " " << m.name() << ", of " << m.where() << ", is taken by all";
  });
  EXPECT_GT(elsewhere, 400);
}

TEST(Refusals, AnOptionOfTheCommandLineHasAValue) {
  for_all_members([](const Command& command, Door door, const Member& m) {
    if (door != Door::command || m.is_flag() || m.is_positional()) return;
    const std::string option = Wording{}.name(m.name());
    for (const std::vector<std::string>& words :
         {std::vector{option}, std::vector{option + "="}, std::vector{option, std::string("--quiet")}}) {
      std::vector<std::string> line = {"quarksmith", std::string(command.name)};
      line.insert(line.end(), words.begin(), words.end());
      const auto refusal = refusal_of([&] { perform_words(line); });
      ASSERT_TRUE(refusal) << command.name << " " << words[0];
      EXPECT_EQ(int(refusal->kind), int(Kind::no_value)) << refusal->what();
      EXPECT_EQ(refusal->member, m.name()) << refusal->what();
    }
  });
}
