#include "runs/table_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {

void TableReader::fail(int line, const std::string& message) const {
  throw UsageError(fmt::format("{}:{}: {}: {}", file_, line, what_, message));
}

void TableReader::refuse(Refusal::Kind kind, const std::string& key, const std::string& message) const {
  const Value* value = table_->find(key);
  const int at = value != nullptr ? value->line : line();
  throw Refusal(kind, key, at, fmt::format("{}:{}: {}: {}", file_, at, what_, message));
}

void TableReader::locate(const std::function<void()>& work) const {
  try {
    work();
  } catch (const Refusal& refusal) {
    if (refusal.line != 0) throw;
    refuse(refusal.kind, refusal.member, refusal.what());
  } catch (const UsageError& error) {
    if (std::string_view(error.what()).starts_with(file_ + ":")) throw;
    fail(error.what());
  }
}

bool TableReader::has(const std::string& key) const { return table_->find(key) != nullptr; }

const Value* TableReader::find(const std::string& key) {
  known_.insert(key);
  return table_->find(key);
}

const Value& TableReader::need(const std::string& key, const char* kind) {
  const Value* found = find(key);
  if (found != nullptr) return *found;
  for (const auto& [name, value] : table_->entries)
    if (!known_.contains(name) && nearest(name, {key}) == key)
      fail(value.line, fmt::format("key '{}' is unknown here; did you mean {}?", printable(name), key));
  fail(fmt::format("{} is missing; give it {}", key, kind));
}

void TableReader::note(const std::string& key, const std::string& value) {
  if (notes_ != nullptr) notes_->insert_or_assign(what_ + ": " + key, value);
}

TableReader TableReader::within(const Table& table, const std::string& what) const {
  TableReader reader(table, file_, what);
  reader.notes_ = notes_;
  return reader;
}

template <class T>
const T& TableReader::as(const std::string& key, const Value& value, const char* kind) const {
  const T* found = std::get_if<T>(&value.value);
  if (found == nullptr) fail(value.line, fmt::format("{} is not {}", key, kind));
  return *found;
}

std::string TableReader::text(const std::string& key, std::optional<std::string> fallback) {
  known_.insert(key);
  const bool is_there = !fallback || has(key);
  std::string found = is_there ? as<std::string>(key, need(key, "a text in quotes"), "a text in quotes") : *fallback;
  note(key, found);
  return found;
}

std::string TableReader::word(const std::string& key, const std::vector<std::string>& words,
                              std::optional<std::string> fallback) {
  const std::string found = text(key, std::move(fallback));
  if (std::find(words.begin(), words.end(), found) == words.end()) {
    fail(need(key, "").line, fmt::format("{} '{}' is unknown; {}use {}", key, printable(found),
                                         suggestion(found, words), fmt::join(words, ", ")));
  }
  return found;
}

std::optional<TableReader> TableReader::table(const std::string& key, const std::string& what) {
  const Value* value = find(key);
  if (value == nullptr) return {};
  return within(as<Table>(key, *value, "a table"), what);
}

std::vector<TableReader> TableReader::tables(const std::string& key, const std::string& what) {
  const Value* value = find(key);
  std::vector<TableReader> all;
  if (value == nullptr) return all;
  for (const Value& one : as<std::vector<Value>>(key, *value, "a list of tables"))
    all.push_back(within(as<Table>(key, one, "a list of tables"), what));
  return all;
}

void TableReader::note(const Member& member, const Value& value) {
  if (const auto* table = std::get_if<Table>(&value.value))
    for (const auto& [key, one] : table->entries) note(member.name() + ": " + key, word_of(one));
  else if (const auto* list = std::get_if<std::vector<Value>>(&value.value); list != nullptr && member.is_repeated())
    note(member.name(), fmt::format("[{}]", fmt::join(*list | std::views::transform(word_of), ", ")));
  else
    note(member.name(), member.is_path() ? word_of(value) : member.text());
}

void TableReader::fill_from(Members& members, const Table& values) {
  std::map<std::string, std::string> defaults;
  for (const Member& m : members.all()) defaults[m.name()] = m.text();
  locate([&] { fill(members, values, {Door::toml, what_, file_}); });
  for (const Member& m : members.all()) {
    if (const Value* value = find(m.name()))
      note(m, *value);
    else if (!m.is_recent())
      note(m.name(), defaults[m.name()]);
  }
}

namespace {

/// Paths from the folder of their file.
Value in_folder(Value value, const Member* member, const std::filesystem::path& folder) {
  auto* text = std::get_if<std::string>(&value.value);
  if (text != nullptr && !text->empty() && member != nullptr && member->is_path()) *text = (folder / *text).string();
  return value;
}

}  // namespace

void TableReader::read(Members& members, const std::filesystem::path& folder) {
  Table values;
  values.line = line();
  for (const Member& m : members.all())
    if (const Value* value = find(m.name())) values.entries.emplace_back(m.name(), in_folder(*value, &m, folder));
  fill_from(members, values);
}

void TableReader::read_rest(Description& description, const std::filesystem::path& folder) {
  Members members = members_of(description);
  Table values;
  values.line = line();
  for (const auto& [key, value] : table_->entries)
    if (!known_.contains(key)) values.entries.emplace_back(key, in_folder(value, members.find(key), folder));
  fill_from(members, values);
}

void TableReader::read_rest(const std::function<void(Members::Adder&)>& list, const std::filesystem::path& folder) {
  struct Listed final : Description {
    explicit Listed(const std::function<void(Members::Adder&)>& all) : adds(all) {}
    void list(Members& members) override {
      auto add = members.of(*this);
      adds(add);
    }
    const std::function<void(Members::Adder&)>& adds;
  } keys(list);
  read_rest(keys, folder);
}

void TableReader::done() const {
  for (const auto& [key, value] : table_->entries) {
    if (known_.contains(key)) continue;
    const std::vector<std::string> known(known_.begin(), known_.end());
    fail(value.line, fmt::format("key '{}' is unknown here; {}use {}", printable(key), suggestion(key, known),
                                 fmt::join(known, ", ")));
  }
}

}  // namespace quarksmith::runs
