#include "runs/table_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {

void TableReader::fail(int line, const std::string& message) const {
  throw UsageError(fmt::format("{}:{}: {}: {}", file_, line, what_, message));
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

namespace {

std::string text_of(double x) { return fmt::format("{}", x); }
std::string text_of(long long n) { return fmt::format("{}", n); }
std::string text_of(bool on) { return on ? "true" : "false"; }
std::string text_of(const std::string& text) { return text; }
template <class T>
std::string text_of(const std::vector<T>& list) {
  std::vector<std::string> all;
  for (const T& one : list) all.push_back(text_of(one));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

}  // namespace

template <class T>
T TableReader::noted(const std::string& key, T value) {
  known_.insert(key);
  note(key, text_of(value));
  return value;
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

double TableReader::as_number(const std::string& key, const Value& value) const {
  const auto* whole = std::get_if<long long>(&value.value);
  const double x = whole != nullptr ? static_cast<double>(*whole) : as<double>(key, value, "a number");
  if (!std::isfinite(x)) fail(value.line, fmt::format("{} is not a finite number", key));
  return x;
}

double TableReader::number(const std::string& key, std::optional<double> fallback) {
  return noted(key, fallback && !has(key) ? *fallback : as_number(key, need(key, "a number")));
}

double TableReader::positive(const std::string& key, std::optional<double> fallback) {
  const double n = number(key, fallback);
  if (!(n > 0)) fail(find(key)->line, fmt::format("{} = {}; use a positive number", key, n));
  return n;
}

long long TableReader::integer(const std::string& key, long long least, long long most,
                               std::optional<long long> fallback) {
  if (fallback && !has(key)) return noted(key, *fallback);
  const Value& value = need(key, "a whole number");
  const long long n = as<long long>(key, value, "a whole number");
  if (n < least || n > most)
    fail(value.line, fmt::format("{} = {}; use a whole number from {} to {}", key, n, least, most));
  return noted(key, n);
}

bool TableReader::flag(const std::string& key, bool fallback) {
  const Value* value = find(key);
  return noted(key, value == nullptr ? fallback : as<bool>(key, *value, "true or false"));
}

std::string TableReader::text(const std::string& key, std::optional<std::string> fallback) {
  if (fallback && !has(key)) return noted(key, *fallback);
  return noted(key, as<std::string>(key, need(key, "a text in quotes"), "a text in quotes"));
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

std::vector<double> TableReader::numbers(const std::string& key) {
  const Value& value = need(key, "a list of numbers");
  std::vector<double> all;
  for (const Value& one : as<std::vector<Value>>(key, value, "a list of numbers")) all.push_back(as_number(key, one));
  return noted(key, all);
}

std::vector<std::vector<double>> TableReader::lists(const std::string& key, std::size_t each) {
  const std::string kind = fmt::format("a list of {} numbers, or a list of such lists", each);
  const Value& value = need(key, kind.c_str());
  const auto& given = as<std::vector<Value>>(key, value, kind.c_str());
  const bool one = !given.empty() && !std::holds_alternative<std::vector<Value>>(given[0].value);
  std::vector<std::vector<double>> all;
  for (const Value& entry : one ? std::vector<Value>{value} : given) {
    auto& list = all.emplace_back();
    for (const Value& n : as<std::vector<Value>>(key, entry, kind.c_str())) list.push_back(as_number(key, n));
    if (list.size() != each) fail(entry.line, fmt::format("{} is not {}", key, kind));
  }
  if (all.empty()) fail(value.line, fmt::format("{} is empty; give it {}", key, kind));
  return noted(key, all);
}

std::vector<std::string> TableReader::texts(const std::string& key) {
  const Value& value = need(key, "a list of texts in quotes");
  std::vector<std::string> all;
  for (const Value& one : as<std::vector<Value>>(key, value, "a list of texts in quotes"))
    all.push_back(as<std::string>(key, one, "a list of texts in quotes"));
  return noted(key, all);
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

void TableReader::read(Members& members, const std::filesystem::path& folder) {
  Table values;
  values.line = line();
  for (const Member& m : members.all()) {
    const Value* value = find(m.name());
    if (value == nullptr) continue;
    Value given = *value;
    if (auto* text = std::get_if<std::string>(&given.value); text != nullptr && m.is_path())
      *text = (folder / *text).string();
    values.entries.emplace_back(m.name(), std::move(given));
  }
  std::map<std::string, std::string> defaults;
  for (const Member& m : members.all()) defaults[m.name()] = m.text();
  fill(members, values, {Door::toml, what_, file_});
  for (const Member& m : members.all()) {
    const Value* value = find(m.name());
    if (value != nullptr)
      note(m.name(), m.is_path() ? word_of(*value) : m.text());
    else if (!m.is_recent())
      note(m.name(), defaults[m.name()]);
  }
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
