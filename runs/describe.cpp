#include "runs/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/text.hpp"

namespace quarksmith::runs {

const Value* Table::find(std::string_view key) const {
  for (const auto& [name, value] : entries)
    if (name == key) return &value;
  return nullptr;
}

std::string word_of(const Value& value) {
  return std::visit(
      []<class T>(const T& x) -> std::string {
        if constexpr (std::is_same_v<T, Word>) return x.text;
        if constexpr (std::is_same_v<T, bool>) return x ? "true" : "false";
        if constexpr (std::is_same_v<T, long long>) return fmt::format("{}", x);
        if constexpr (std::is_same_v<T, double>) return fmt::format("{}", x);
        if constexpr (std::is_same_v<T, std::string>) return x;
        if constexpr (std::is_same_v<T, std::vector<Value>>) {
          std::string all;
          for (const Value& one : x) all += (&one == x.data() ? "" : ",") + word_of(one);
          return all;
        }
        throw UsageError("a table where a value stands");
      },
      value.value);
}

void Description::refuse_given(std::initializer_list<std::string_view> members, const std::string& why) const {
  for (const std::string_view member : members)
    if (given(member)) refuse(Refusal::Kind::contradicts, member, why);
}

void Description::refuse(Refusal::Kind kind, std::string_view member, const std::string& why) const {
  throw Refusal(kind, std::string(member), 0,
                fmt::format("{}{}{}", called(member), why.starts_with(':') ? "" : " ", why));
}

void Members::leave_out(std::initializer_list<std::string_view> names) {
  std::erase_if(all_, [&](const Member& m) { return std::find(names.begin(), names.end(), m.name()) != names.end(); });
}

Member* Members::find(std::string_view name) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Member& m) { return m.name() == name; });
  return found == all_.end() ? nullptr : &*found;
}

std::vector<std::string> Members::names() const {
  std::vector<std::string> all;
  for (const Member& m : all_)
    if (!m.is_hidden()) all.push_back(m.name());
  return all;
}

Members members_of(Description& description) {
  Members members;
  description.list(members);
  return members;
}

namespace {

[[noreturn]] void refuse_unknown(const Members& members, const std::string& name, const Value& value,
                                 const Wording& wording) {
  std::vector<std::string> known;
  for (const std::string& one : members.names()) known.push_back(wording.name(one));
  const std::string stated = wording.name(name), meant = suggestion(stated, known);
  const std::string message =
      wording.door == Door::toml
          ? fmt::format("key '{}' is unknown here; {}use {}", printable(name), meant, fmt::join(known, ", "))
      : wording.door == Door::command
          ? fmt::format("{} has no option {}; {}{} lists all", wording.subject, printable(stated), meant,
                        wording.help())
          : fmt::format("option '{}' is unknown; {}{} lists all", printable(name), meant, wording.help());
  throw Refusal(Refusal::Kind::unknown, name, value.line, wording.message(value.line, message, false));
}

}  // namespace

void fill(Members& members, const Table& values, const Wording& wording) {
  for (Description* part : members.parts()) part->wording = wording;
  std::map<std::string, int> lines;
  std::vector<Member*> given;
  for (const auto& [name, value] : values.entries) {
    Member* member = given.emplace_back(members.find(name));
    if (member == nullptr) refuse_unknown(members, name, value, wording);
    if (!lines.emplace(name, value.line).second && !member->is_repeated())
      throw Refusal(
          Refusal::Kind::twice, name, value.line,
          wording.message(value.line, fmt::format("{} is given twice; give it once", wording.name(name)), false));
  }
  for (std::size_t n = 0; n < given.size(); ++n) {
    given[n]->set(values.entries[n].second, wording);
    given[n]->owner().mark_given(given[n]->name());
  }
  for (Member& member : members.all())
    if (const auto at = lines.find(member.name()); at != lines.end())
      if (const std::string why = member.why_not(); !why.empty())
        throw Refusal(Refusal::Kind::applies, member.name(), at->second,
                      wording.message(at->second, fmt::format("{} {}", wording.name(member.name()), why), false));
  for (Description* part : members.parts()) part->check();
  for (const Member& member : members.all())
    if (member.is_required() && !lines.contains(member.name()))
      throw Refusal(Refusal::Kind::missing, member.name(), values.line,
                    wording.message(values.line,
                                    fmt::format("{} is required",
                                                member.is_positional() ? member.name() : wording.name(member.name())),
                                    true));
}

void fill(Description& description, const Table& values, const Wording& wording) {
  Members members = members_of(description);
  fill(members, values, wording);
}

}  // namespace quarksmith::runs
