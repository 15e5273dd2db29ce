#include "apps/solver_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/action_options.hpp"
#include "runtime/error.hpp"

namespace quarksmith::apps {
namespace {

/// The key of an option: `omega` of `--omega`.
std::string key_of(std::string_view option) {
  std::string key(option.substr(2));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

/// \throws UsageError a key is there that means nothing beside the others.
void require_use(TomlReader& table, const char* key, bool used, const std::string& of) {
  if (table.has(key) && !used)
    table.fail(table.find(key)->line, fmt::format("{} belongs to {}; leave it out", key, of));
}

void read_numbers(TomlReader& table, SolverKeys& keys) {
  SolverChoices& c = keys.choices;
  for (const auto& [number, methods] : method_options()) {
    const MethodNumber& n = *number;
    const std::string key = key_of(n.option);
    if (!table.has(key)) continue;
    const std::string inner = c.preconditioner.substr(0, c.preconditioner.find(':'));
    const auto is_used = [&](const std::string& name) {
      return keys.solver == name || inner == name || inner == "schwarz-" + name;
    };
    require_use(table, key.c_str(), std::any_of(methods.begin(), methods.end(), is_used),
                fmt::format("solver \"{}\"", fmt::join(methods, "\", \"")));
    if (n.whole != nullptr)
      c.parameters.*n.whole = static_cast<int>(table.integer(key, 0, 1 << 20));
    else
      c.parameters.*n.real = table.number(key);
  }
}

}  // namespace

SolveSettings SolverKeys::settings(const HostGauge& gauge, const Action& action, const CommonOptions& common) const {
  SolveSettings s = choices.settings(stated, gauge, action, common);
  s.method = method_of(solver.empty() ? default_solver(action.info()) : solver);
  s.precision = precision;
  return s;
}

std::vector<std::string> solver_key_names() {
  std::vector<std::string> all = {"solver", "precision", "tol",   "max_iterations", "even_odd", "reconstruct",
                                  "basis",  "updates",   "delta", "preconditioner", "mg"};
  for (const MethodOption& o : method_options()) all.push_back(key_of(o.number->option));
  return all;
}

SolverKeys read_solver_keys(TomlReader& table, const std::filesystem::path& folder) {
  SolverKeys keys;
  SolverChoices& c = keys.choices;
  keys.solver = table.text("solver", "");
  keys.precision = table.text("precision", keys.precision);
  keys.stated = {table.has("even_odd"), table.has("reconstruct")};
  c.even_odd = table.text("even_odd", c.even_odd);
  c.reconstruct = table.text("reconstruct", c.reconstruct);
  c.basis = table.text("basis", c.basis);
  c.updates = table.text("updates", c.updates);
  c.preconditioner = table.text("preconditioner", c.preconditioner);
  c.delta = table.number("delta", c.delta);
  c.tolerance = table.positive("tol", c.tolerance);
  c.max_iterations = static_cast<int>(table.integer("max_iterations", 1, 1 << 30, c.max_iterations));
  const std::string multigrid = table.text("mg", "");
  if (!multigrid.empty()) c.multigrid = (folder / multigrid).string();
  read_numbers(table, keys);
  try {
    if (!keys.solver.empty()) method_of(keys.solver);
    const bool mixed = precisions_of(keys.precision, 3).mixed();
    for (const char* key : {"updates", "delta"})
      require_use(table, key, mixed, "mixed precision, as precision = \"double-half\"");
    c.check({keys.solver});
  } catch (const UsageError& e) {
    const std::string what = e.what();
    if (what.starts_with(table.file() + ":")) throw;
    table.fail(what);
  }
  require_use(table, "preconditioner", keys.solver == "gcr", "solver \"gcr\"");
  require_use(table, "mg", keys.solver == "multigrid", "solver \"multigrid\"");
  return keys;
}

}  // namespace quarksmith::apps
