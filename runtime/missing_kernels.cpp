// Kernels that a build lacks: compiled when they are asked for, with those that will be (rehearsal.hpp).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/on_demand.hpp"
#include "runtime/registry.hpp"
#include "runtime/rehearsal.hpp"

namespace quarksmith {
namespace {

/// The rows of a profile that would build a kernel: keys and values, `operator` first.
using Row = std::vector<std::pair<std::string_view, std::string>>;

/// The row of a profile for a kernel that was asked for.
Row profile_row(std::span<const Kernel> kernels, const KernelQuery& q) {
  bool hopping = !q.expression && (!q.basis.empty() || (q.spins == 1 && !q.links.empty()));
  for (const Kernel& k : kernels) hopping = hopping || (k.operation == q.operation && k.family == "hopping");
  const auto quoted = [](std::string_view text) { return fmt::format("\"{}\"", text); };
  Row row = {{"operator", quoted(q.operation)}};
  if (hopping) {
    row.emplace_back("dagger", fmt::format("{}", q.dagger));
    row.emplace_back("epilogue", quoted(q.epilogue));
  }
  row.emplace_back("precision", quoted(q.precision));
  if (!q.links.empty()) row.emplace_back("links", quoted(q.links.substr(q.links[0] == 'r')));
  if (!q.basis.empty()) row.emplace_back("basis", quoted(q.basis));
  if (hopping && !q.links.empty()) row.emplace_back("tile", std::to_string(q.tile));
  if (!hopping && q.spins != 4) row.emplace_back("spins", std::to_string(q.spins));
  if (q.links.empty() && q.colours != 3) row.emplace_back("colours", std::to_string(q.colours));
  if (q.complex_coefficients) row.emplace_back("coefficient", "\"complex\"");
  return row;
}

std::string text_of(const Row& row) {
  std::string text = "[[kernel]]\n";
  for (const auto& [key, value] : row) {
    const bool bare = key == "operator" && value.find(',') == std::string::npos;
    text += bare ? fmt::format("{} = {}\n", key, value) : fmt::format("{} = [{}]\n", key, value);
  }
  return text;
}

/// Adds the values of another row to this one, if they differ in those of one key alone.
bool join(Row& row, const Row& other) {
  std::vector<std::size_t> differing;
  for (std::size_t n = 0; n < std::min(row.size(), other.size()); ++n) {
    if (row[n].first != other[n].first) return false;
    if (row[n].second != other[n].second) differing.push_back(n);
  }
  if (row.size() != other.size() || differing.size() != 1) return false;
  row[differing[0]].second += ", " + other[differing[0]].second;
  return true;
}

/// The fewest rows that name these kernels.
std::string joined(std::vector<Row> rows) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t n = 0; n < rows.size(); ++n)
      for (std::size_t m = n + 1; m < rows.size();)
        if (join(rows[n], rows[m])) {
          rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(m));
          changed = true;
        } else {
          ++m;
        }
  }
  std::string text;
  for (const Row& row : rows) text += text_of(row);
  return text;
}

MissingKernel missing(const std::vector<Row>& rows, const std::string& reason) {
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
    for (std::size_t n = modules_.size(); n-- > 0;)
      if (const Kernel* k = try_find(kernels_in(modules_[n]->kernels, table), q)) return k;
    return nullptr;
  }
  void add(const std::string& file) {
    const KernelModule& module = load_module(file);
    const std::lock_guard lock(mutex_);
    modules_.push_back(&module);
  }
  /// Why one alone cannot be compiled; empty if that was not tried, or worked.
  std::string failure(const Row& row) {
    const std::lock_guard lock(mutex_);
    const auto found = failures_.find(row);
    return found == failures_.end() ? "" : found->second;
  }
  /// Compiles all of these, or none; returns why.
  std::string compile(const std::vector<Row>& rows) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> texts;
    for (const Row& row : rows) texts.push_back(text_of(row));
    const OnDemand made = compile_on_demand(texts, targets().front()->table());
    for (const auto& module : made.modules) modules_.push_back(&load_module(module.string()));
    if (rows.size() == 1) failures_[rows[0]] = made.reason;
    return made.reason;
  }

 private:
  std::mutex mutex_;
  std::vector<const KernelModule*> modules_;  // later ones first
  std::map<Row, std::string> failures_;
};

Compiled& compiled() {
  static Compiled modules;
  return modules;
}

/// A kernel that does nothing, like one of the same operation in all that is read of it before it runs. It stays: who
/// asked may keep it.
const Kernel& stand_in(std::span<const Kernel> kernels, const KernelQuery& q) {
  static std::mutex mutex;
  static std::deque<std::string> texts;
  static std::deque<Kernel> made;
  const std::lock_guard lock(mutex);
  const auto kept = [](std::string_view text) -> std::string_view { return texts.emplace_back(text); };
  Kernel k{};
  k.sums = 4;  // as many as any has: they are read
  int most = -1;
  for (const Kernel& like : kernels) {
    const int alike = 2 * (like.epilogue == q.epilogue) + (like.spins == q.spins);
    if (like.operation == q.operation && alike > most) k = like, most = alike;
  }
  k.name = k.operation = kept(q.operation);
  k.precision = kept(q.precision);
  k.links = kept(q.links);
  k.basis = kept(q.basis);
  k.epilogue = kept(q.epilogue);
  k.dagger = q.dagger;
  k.complex_coefficients = q.complex_coefficients;
  k.tile = q.tile;
  k.spins = q.spins;
  k.colours = q.links.empty() ? q.colours : find_storage(q.links).colours;
  k.apply = [](const Arguments&, const Launch&) {};
  return made.emplace_back(k);
}

thread_local KernelRehearsal* innermost = nullptr;
thread_local std::vector<Row>* rows_gathered = nullptr;  // by a rehearsal that is under way
thread_local bool lacking = false;                       // one that it asked for is missing

}  // namespace

void use_kernels(const std::string& file) { compiled().add(file); }

KernelRehearsal::KernelRehearsal(std::function<void()> rehearse) : rehearse_(std::move(rehearse)), outer_(innermost) {
  innermost = this;
}
KernelRehearsal::~KernelRehearsal() { innermost = outer_; }

bool KernelRehearsal::finds_all(const std::function<void()>& rehearse) {
  std::vector<Row> rows;
  std::vector<Row>* const outer = std::exchange(rows_gathered, &rows);
  lacking = false;
  try {
    rehearse();
  } catch (const std::exception&) {
    lacking = true;
  }
  rows_gathered = outer;
  return !std::exchange(lacking, true);
}

bool KernelRehearsal::under_way() { return rows_gathered != nullptr; }

void KernelRehearsal::run() {
  for (const KernelRehearsal* work = innermost; work != nullptr; work = work->outer_) {
    try {
      work->rehearse_();
    } catch (...) {
      continue;  // the work itself will tell what is wrong
    }
  }
}

const Kernel& find(std::span<const Kernel> kernels, const KernelQuery& q) {
  if (const Kernel* kernel = try_find(kernels, q)) return *kernel;
  const std::string_view table = table_of(kernels);
  std::vector<Row> rows = {profile_row(kernels, q)};
  if (table.empty()) throw missing(rows, "");
  if (const Kernel* kernel = compiled().find(table, q)) return *kernel;
  lacking = true;
  std::string reason = compiled().failure(rows[0]);
  if (KernelRehearsal::under_way()) {
    if (reason.empty() && std::ranges::find(*rows_gathered, rows[0]) == rows_gathered->end())
      rows_gathered->push_back(rows[0]);
    return stand_in(kernels, q);
  }
  if (!reason.empty()) throw missing(rows, reason);
  rows_gathered = &rows;
  KernelRehearsal::run();
  rows_gathered = nullptr;
  reason = compiled().compile(rows);
  if (!reason.empty() && rows.size() > 1) {  // of one alone the reason is its own
    rows.resize(1);
    reason = compiled().compile(rows);
  }
  if (const Kernel* kernel = compiled().find(table, q)) return *kernel;
  throw missing(rows, reason);
}

}  // namespace quarksmith
