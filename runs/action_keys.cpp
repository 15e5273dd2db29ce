#include "runs/action_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runs/contraction.hpp"
#include "runs/earlier.hpp"
#include "runtime/error.hpp"
#include "runtime/on_demand.hpp"
#include "runtime/rehearsal.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {
namespace {

/// A number, a list of numbers or text as options take them.
std::string key_text(const TableReader& table, const std::string& key, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return *text;
  const auto* list = std::get_if<std::vector<Value>>(&value.value);
  if (list == nullptr) return fmt::format("{}", table.as_number(key, value));
  std::string all;
  for (const Value& one : *list) all += fmt::format("{}{}", all.empty() ? "" : ",", key_text(table, key, one));
  return all;
}

}  // namespace

void read_keys(TableReader& table, const KeyRules& rules, const ActionInfo* info, ActionKeys& keys) {
  const auto is_own = [&rules](const std::string& key) {
    return std::find(rules.own.begin(), rules.own.end(), key) != rules.own.end();
  };
  for (const auto& [key, value] : table.contents().entries)
    if (info != nullptr && !is_own(key))  // what gave the same parameter before goes
      std::erase_if(keys.parameters, [&, k = std::string_view(key)](const auto& other) {
        const auto gives = [&](std::string_view name) {
          std::vector<std::string_view> all = {name};
          for (const ActionSpelling& s : info->spellings)
            for (const NamedNumber& n : s.gives)
              if (s.name == name) all.push_back(n.name);
          return all;
        };
        const auto mine = gives(k), theirs = gives(other.first);
        return std::any_of(mine.begin(), mine.end(), [&](std::string_view n) {
          return !n.empty() && std::find(theirs.begin(), theirs.end(), n) != theirs.end();
        });
      });
  for (const auto& [key, value] : table.contents().entries) {
    if (is_own(key)) continue;
    keys.parameters[key] = &value;
    table.find(key);
    table.note(key, key_text(table, key, value));
  }
  if (const Value* boundary = table.find("boundary")) {
    const std::string text = key_text(table, "boundary", *boundary);
    try {
      keys.boundary = boundary_phases(text);
    } catch (const UsageError& e) {
      table.fail(boundary->line,
                 fmt::format("boundary '{}' is not periodic, antiperiodic or four phases from -2 to 2", text));
    }
    table.note("boundary", text);
  }
  if (table.has("ls")) {
    keys.slices = static_cast<int>(table.integer("ls", 1, most_slices));
    keys.has_slices = true;
  }
  if (auto fields = table.table("field", table.called() + ": field")) {
    for (const auto& [name, value] : fields->contents().entries) keys.fields.push_back(name + "=" + fields->text(name));
    fields->done();
  }
}

namespace {

/// The line of the key that a message begins with.
int line_of(const TableReader& table, const ActionKeys& keys, const std::string& message) {
  for (const auto& [key, value] : keys.parameters)
    if (message.starts_with(key + " ")) return value->line;
  return table.line();
}

}  // namespace

Action read_action(TableReader& table, const KeyRules& rules, const std::string& name, const ActionKeys& keys,
                   const Lattice& lattice, const std::filesystem::path& folder, const Session& session) {
  try {
    const std::string called = stated_action(name.find(".py") == name.npos ? name : (folder / name).string());
    ActionReader::Texts texts;
    std::vector<std::string> known = rules.own;
    for (const ActionInfo& a : actions()) {
      for (const ActionParameter& p : a.parameters) known.emplace_back(p.name);
      for (const ActionSpelling& s : a.spellings) known.emplace_back(s.name);
    }
    for (const auto& [key, value] : keys.parameters) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        const std::string meant = nearest(key, known);
        table.fail(value->line,
                   fmt::format("key '{}' is unknown{}; the keys of an action are options of `quarksmith propagator`",
                               printable(key), meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
      }
      texts.emplace(key, key_text(table, key, *value));
    }
    const ActionInfo& info = ActionReader::meant(called, texts);
    if (keys.has_slices && info.chain.empty())
      table.fail(fmt::format("ls belongs to actions with a fifth dimension, not to {}; leave it out", name));
    const ActionReader reader(info, texts, info.chain.empty() ? 1 : keys.slices, {"", '_', rules.user});
    if (reader.masses().size() > 1)
      throw UsageError(fmt::format("mass has several values; a {} has one: give one", rules.user));
    std::vector<std::string> fields;
    for (const std::string& field : keys.fields) {
      const std::size_t at = field.find('=') + 1;
      const std::filesystem::path file = field.substr(at);
      const bool is_file = std::filesystem::exists(folder / file);
      fields.push_back(field.substr(0, at) + (is_file ? (folder / file).string() : file.string()));
    }
    GivenFields given = read_fields(info, fields, lattice, session, {Door::toml, rules.user, table.file()});
    if (!info.digest.empty()) table.note("formula", std::string(info.digest));
    if (!KernelRehearsal::under_way())  // digests are collective
      for (const auto& [field, held] : given)
        table.note(fmt::format("field {}{}", field, digest_note), gauge_digest(held->links, session));
    return Action(reader.values(), {.boundary = keys.boundary, .fields = std::move(given)});
  } catch (const UsageError& e) {
    if (std::string_view(e.what()).starts_with(table.file() + ":")) throw;
    table.fail(line_of(table, keys, e.what()), e.what());
  }
}

}  // namespace quarksmith::runs
