// TOML by toml++: the one file that includes it.
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <toml++/toml.h>

#include "runs/table_reader.hpp"
#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {
namespace {

constexpr std::streamsize most_bytes = 16 << 20;

Table tree_of(const toml::table& table, const std::string& file);

Value value_of(const toml::node& node, const std::string& file) {
  Value v;
  v.line = static_cast<int>(node.source().begin.line);
  if (const auto* b = node.as_boolean()) {
    v.value = b->get();
  } else if (const auto* n = node.as_integer()) {
    v.value = static_cast<long long>(n->get());
  } else if (const auto* x = node.as_floating_point()) {
    v.value = x->get();
  } else if (const auto* s = node.as_string()) {
    v.value = s->get();
  } else if (const auto* list = node.as_array()) {
    std::vector<Value> all;
    for (const toml::node& one : *list) all.push_back(value_of(one, file));
    v.value = std::move(all);
  } else if (const auto* table = node.as_table()) {
    v.value = tree_of(*table, file);
  } else {
    throw UsageError(fmt::format("{}:{}: a date or time; nothing here takes one", file, v.line));
  }
  return v;
}

Table tree_of(const toml::table& table, const std::string& file) {
  Table tree;
  tree.line = static_cast<int>(table.source().begin.line);
  for (const auto& [key, node] : table) tree.entries.emplace_back(std::string(key.str()), value_of(node, file));
  return tree;
}

}  // namespace

Table read_toml(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (std::filesystem::is_regular_file(path) && file) {
    text.resize(static_cast<std::size_t>(most_bytes) + 1);
    file.read(text.data(), most_bytes + 1);
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  if (!std::filesystem::is_regular_file(path) || file.bad() || !file.is_open())
    throw Error(fmt::format("{}: cannot be read; name a TOML file", name));
  if (text.size() > static_cast<std::size_t>(most_bytes))
    throw UsageError(fmt::format("{}: has more than {} bytes; it is no description of a run", name, most_bytes));
  try {
    return tree_of(toml::parse(text, name), name);
  } catch (const toml::parse_error& e) {
    const std::string what = printable(std::string(e.description()));
    const bool is_long = what.ends_with("not representable in 64 bits");
    throw UsageError(fmt::format("{}:{}: {}{}", name, e.source().begin.line, what,
                                 is_long ? "; write seeds of 2^63 and above in quotes" : ""));
  }
}

}  // namespace quarksmith::runs
