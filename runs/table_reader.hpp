/// \file
/// TOML files as trees of values with their line numbers, and tables that are read key by key.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runs/describe.hpp"

namespace quarksmith::runs {

/// Reads a file. \throws UsageError it is not TOML; the message names file and line. Error it cannot be read.
Table read_toml(const std::filesystem::path& path);

/// Reads a table by its keys; each must be asked for before `done`.
class TableReader {
 public:
  /// \param what name of the table in messages, such as `monomial 'light'`.
  TableReader(const Table& table, std::string file, std::string what)
      : table_(&table), file_(std::move(file)), what_(std::move(what)) {}

  /// `FILE:LINE: WHAT: MESSAGE`. \throws UsageError
  [[noreturn]] void fail(int line, const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const { fail(table_->line, message); }
  /// \throws Refusal always: of a key, with its line.
  [[noreturn]] void refuse(Refusal::Kind kind, const std::string& key, const std::string& message) const;
  /// Runs `work`, and adds file and line of the key concerned, or of this table, to a UsageError that it throws.
  void locate(const std::function<void()>& work) const;
  int line() const { return table_->line; }
  const std::string& file() const { return file_; }
  const std::string& called() const { return what_; }
  void call(std::string what) { what_ = std::move(what); }
  /// Records all values that are read from now on, also from tables within this one, as `WHAT: KEY`; keys that are
  /// missing with their defaults.
  void note_in(std::map<std::string, std::string>& notes) { notes_ = &notes; }
  /// Records a value that was read in another way.
  void note(const std::string& key, const std::string& value);

  /// The value of a key; null if it is missing.
  const Value* find(const std::string& key);
  bool has(const std::string& key) const;
  /// \throws UsageError it is none, or it is missing and there is no fallback.
  std::string text(const std::string& key, std::optional<std::string> fallback = {});
  /// One of several words.
  std::string word(const std::string& key, const std::vector<std::string>& words,
                   std::optional<std::string> fallback = {});
  /// Empty if it is missing.
  std::optional<TableReader> table(const std::string& key, const std::string& what);
  /// The tables of [[key]], or of a list of tables.
  std::vector<TableReader> tables(const std::string& key, const std::string& what);
  /// Fills members from the keys of this table, and records their values or defaults.
  /// \param folder start of relative paths. \throws Refusal as `fill`, with file and line.
  void read(Members& members, const std::filesystem::path& folder);
  /// Fills a description from all keys that were not asked for before.
  void read_rest(Description& description, const std::filesystem::path& folder = {});
  /// Fills members that belong to no description from all keys that were not asked for before. \param list adds them.
  void read_rest(const std::function<void(Members::Adder&)>& list, const std::filesystem::path& folder = {});
  /// \throws UsageError a key was not asked for: it is unknown here.
  void done() const;

  const Table& contents() const { return *table_; }

 private:
  const Value& need(const std::string& key, const char* kind);
  template <class T>
  const T& as(const std::string& key, const Value& value, const char* kind) const;
  TableReader within(const Table& table, const std::string& what) const;
  void fill_from(Members& members, const Table& values);
  void note(const Member& member, const Value& value);

  const Table* table_;
  std::string file_, what_;
  std::set<std::string> known_;
  std::map<std::string, std::string>* notes_ = nullptr;
};

}  // namespace quarksmith::runs
