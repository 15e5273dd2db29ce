// Kernels that a build lacks: compiled when they are asked for, or gathered first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/on_demand.hpp"
#include "runtime/registry.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

/// The row of a profile that would build the kernel asked for.
std::string profile_row(std::span<const Kernel> kernels, const KernelQuery& q) {
  bool hopping = !q.expression && (!q.basis.empty() || (q.spins == 1 && !q.links.empty()));
  for (const Kernel& k : kernels) hopping = hopping || (k.operation == q.operation && k.family == "hopping");
  std::string row = fmt::format("[[kernel]]\noperator = \"{}\"\n", q.operation);
  if (hopping) row += fmt::format("dagger = [{}]\nepilogue = [\"{}\"]\n", q.dagger, q.epilogue);
  row += fmt::format("precision = [\"{}\"]\n", q.precision);
  if (!q.links.empty()) row += fmt::format("links = [\"{}\"]\n", q.links.substr(q.links[0] == 'r'));
  if (!q.basis.empty()) row += fmt::format("basis = [\"{}\"]\n", q.basis);
  if (hopping && !q.links.empty()) row += fmt::format("tile = [{}]\n", q.tile);
  if (!hopping && q.spins != 4) row += fmt::format("spins = [{}]\n", q.spins);
  if (q.links.empty() && q.colours != 3) row += fmt::format("colours = [{}]\n", q.colours);
  if (q.complex_coefficients) row += "coefficient = [\"complex\"]\n";
  return row;
}

/// A row, or several that differ in the values of one key: each key with its values.
using Row = std::vector<std::pair<std::string, std::vector<std::string>>>;

Row parsed(const std::string& text) {
  Row row;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    std::string value = line.substr(equals + 3);
    if (value.starts_with('[')) value = value.substr(1, value.size() - 2);
    row.push_back({line.substr(0, equals), {value}});
  }
  return row;
}

/// Adds the values of another row to this one, if they differ in those of one key alone.
bool join(Row& row, const Row& other) {
  if (row.size() != other.size()) return false;
  std::size_t differs = row.size();
  for (std::size_t n = 0; n < row.size(); ++n) {
    if (row[n] == other[n]) continue;
    if (row[n].first != other[n].first || differs != row.size()) return false;
    differs = n;
  }
  if (differs == row.size()) return true;
  auto& values = row[differs].second;
  for (const std::string& value : other[differs].second)
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  return true;
}

/// As few rows as name the same kernels.
std::string joined(const std::vector<std::string>& texts) {
  std::vector<Row> rows;
  for (const std::string& text : texts) rows.push_back(parsed(text));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = 0; n < rows.size(); ++n)
      for (std::size_t m = rows.size(); --m > n;)
        if (join(rows[n], rows[m])) {
          rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(m));
          changed = true;
        }
  }
  std::string text;
  for (const Row& row : rows) {
    text += "[[kernel]]\n";
    for (const auto& [key, values] : row) {
      const bool bare = key == "operator" && values.size() == 1;
      text += fmt::format(fmt::runtime(bare ? "{} = {}\n" : "{} = [{}]\n"), key, fmt::join(values, ", "));
    }
  }
  return text;
}

MissingKernel missing(const std::vector<std::string>& rows, const std::string& reason) {
  return MissingKernel(
      fmt::format("this build has no kernel{} for what was asked; add to the profile and build again:\n{}{}",
                  rows.size() > 1 ? "s" : "", joined(rows), reason));
}

/// The table of a target that these kernels are; empty if they are none.
std::string_view table_of(std::span<const Kernel> kernels) {
  for (const Target* t : targets())
    if (!kernels.empty() && kernels_of(t->name).data() == kernels.data()) return t->table();
  return "";
}

/// Modules with kernels that were compiled because a program asked for them.
class Compiled {
 public:
  /// Null if there is none.
  const Kernel* find(std::string_view table, const KernelQuery& q) {
    const std::lock_guard lock(mutex_);
    for (const KernelModule* module : modules_)
      if (const Kernel* k = try_find(kernels_in(module->kernels, table), q)) return k;
    return nullptr;
  }
  /// Null if a row was not tried yet, else why that gave nothing.
  const std::string* tried(const std::string& row) {
    const std::lock_guard lock(mutex_);
    const auto found = tried_.find(row);
    return found == tried_.end() ? nullptr : &found->second;
  }
  /// \throws MissingKernel it is not possible.
  void compile(const std::vector<std::string>& rows) {
    const std::lock_guard lock(mutex_);
    const OnDemand made = compile_on_demand(rows, targets().front()->table());
    for (const std::string& row : rows) tried_.emplace(row, made.reason);
    if (made.modules.empty()) throw missing(rows, made.reason);
    for (const auto& module : made.modules) modules_.push_back(&load_module(module.string()));
  }

 private:
  std::mutex mutex_;
  std::vector<const KernelModule*> modules_;
  std::map<std::string, std::string> tried_;
};

Compiled& compiled() {
  static Compiled modules;
  return modules;
}

/// Kernels that were asked for and are missing, and what stands in for them. These stay: who asked may keep them.
struct Gathering {
  std::vector<std::string> rows;

  /// A kernel that does nothing, like one of the same operation in all that is read of it; null if there is none.
  const Kernel* stand_in(std::span<const Kernel> kernels, const KernelQuery& q) {
    const Kernel* like = nullptr;
    int most = -1;
    for (const Kernel& k : kernels) {
      const int alike = 4 * (k.epilogue == q.epilogue) + 2 * (k.dagger == q.dagger) + (k.spins == q.spins);
      if (k.operation == q.operation && alike > most) like = &k, most = alike;
    }
    const auto hops = [&](const Kernel& k) { return k.family == "hopping" && k.spins == q.spins && !q.basis.empty(); };
    if (like == nullptr)
      if (const auto k = std::find_if(kernels.begin(), kernels.end(), hops); k != kernels.end()) like = &*k;
    if (like == nullptr) return nullptr;
    static std::deque<std::string> texts;
    static std::deque<Kernel> made;
    const auto kept = [](std::string_view text) -> std::string_view { return texts.emplace_back(text); };
    Kernel k = *like;
    k.name = k.operation;
    k.precision = kept(q.precision);
    k.links = kept(q.links);
    k.basis = kept(q.basis);
    k.epilogue = kept(q.epilogue);
    k.dagger = q.dagger;
    k.complex_coefficients = q.complex_coefficients;
    k.tile = q.tile;
    k.spins = q.spins;
    if (q.links.empty()) k.colours = q.colours;
    k.apply = [](const Arguments&, const Launch&) {};
    return &made.emplace_back(k);
  }
};

thread_local Gathering* gathering = nullptr;

}  // namespace

const Kernel& find(std::span<const Kernel> kernels, const KernelQuery& q) {
  if (const Kernel* kernel = try_find(kernels, q)) return *kernel;
  const std::string_view table = table_of(kernels);
  const std::string row = profile_row(kernels, q);
  if (table.empty()) throw missing({row}, "");
  if (const Kernel* kernel = compiled().find(table, q)) return *kernel;
  if (const std::string* reason = compiled().tried(row)) throw missing({row}, *reason);
  if (gathering != nullptr) {
    if (std::find(gathering->rows.begin(), gathering->rows.end(), row) == gathering->rows.end())
      gathering->rows.push_back(row);
    if (const Kernel* kernel = gathering->stand_in(kernels, q)) return *kernel;
    throw missing({row}, "");
  }
  compiled().compile({row});
  if (const Kernel* kernel = compiled().find(table, q)) return *kernel;
  throw missing({row}, "");
}

void gather_kernels(const std::function<void()>& work) {
  if (gathering != nullptr) return work();
  for (;;) {
    Gathering found;
    gathering = &found;
    try {
      work();
      gathering = nullptr;
    } catch (const std::exception&) {
      gathering = nullptr;
      if (found.rows.empty()) throw;  // others may come of what stood in
    }
    if (found.rows.empty()) return;
    compiled().compile(found.rows);
  }
}

}  // namespace quarksmith
