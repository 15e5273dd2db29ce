#include "runs/multigrid_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "runs/table_reader.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

constexpr const char* levels = "level";

/// Methods by the name of a key.
Method read_method(TableReader& table, const std::string& key, Method fallback) {
  const std::vector<std::string_view> names = smoother_names();
  return method_of(table.word(key, {names.begin(), names.end()}, name_of(fallback)));
}

std::optional<Method> read_smoother(TableReader& table, const MultigridLevel& level) {
  std::vector<std::string_view> names = smoother_names();
  names.insert(names.begin(), polynomial);
  const std::string name = table.word("smoother", {names.begin(), names.end()}, std::string(smoother_of(level)));
  return name == polynomial ? std::nullopt : std::optional(method_of(name));
}

void read_level(TableReader& t, MultigridLevel& level) {
  const auto as_number = [](long long n) { return static_cast<int>(n); };
  if (t.has("block")) {
    const std::vector<double> block = t.numbers("block");
    bool sound = block.size() == directions;
    for (const double n : block) sound = sound && n >= 1 && n <= 64 && n == std::floor(n);
    if (!sound) t.fail(t.find("block")->line, "block: not four whole numbers from 1 to 64; use block = [4, 4, 4, 4]");
    for (int mu = 0; mu < directions; ++mu) level.block[mu] = static_cast<int>(block[mu]);
  }
  level.vectors = as_number(t.integer("vectors", chiral_numbers, most_vectors, level.vectors));
  if (level.vectors % chiral_numbers != 0)
    t.fail(t.find("vectors")->line,
           fmt::format("vectors = {}; use a multiple of {} up to {}", level.vectors, chiral_numbers, most_vectors));
  level.smoother = read_smoother(t, level);
  level.smoother_steps = as_number(t.integer("smoother_steps", 1, 100, level.smoother_steps));
  level.coarse_steps = as_number(t.integer("coarse_steps", 1, MethodParameters::most_directions, level.coarse_steps));
  level.packed = t.word("storage", {"half", "single"}, level.packed ? "half" : "single") == "half";
  t.done();
}

/// \param p becomes what the file says.
void read(const std::string& path, MultigridParameters& p) {
  const Table contents = read_toml(path);
  TableReader file(contents, path, "multigrid");
  p.relaxations = static_cast<int>(file.integer("relaxations", 1, 1000, p.relaxations));
  p.most_rounds = static_cast<int>(file.integer("rounds", 0, 100, p.most_rounds));
  p.least_gain = file.number("least_gain", p.least_gain);
  if (!(p.least_gain >= 0 && p.least_gain < 1))
    file.fail(file.find("least_gain")->line, fmt::format("least_gain = {}; use a number from 0 to 1", p.least_gain));
  p.coarsest = read_method(file, "coarsest", p.coarsest);
  p.coarsest_steps = static_cast<int>(file.integer("coarsest_steps", 0, 10000, p.coarsest_steps));
  if (p.coarsest_steps == 0 && file.has("coarsest"))
    file.fail(file.find("coarsest")->line, "coarsest acts with coarsest_steps alone; add these, or leave it out");
  if (file.has("smoother_precision")) p.smoother_precision = file.word("smoother_precision", {"half", "single"}, "");
  std::vector<TableReader> tables = file.tables(levels, levels);
  file.done();
  if (tables.empty()) return;
  const MultigridLevel last = p.levels.back();
  p.levels.resize(tables.size(), last);
  for (std::size_t n = 0; n < tables.size(); ++n) read_level(tables[n], p.levels[n]);
}

}  // namespace

void check_multigrid(const std::string& path) {
  MultigridParameters any;
  any.levels.resize(1);
  read(path, any);
}

MultigridParameters read_multigrid(const std::string& path, const Lattice& lattice, int slices) {
  MultigridParameters p = multigrid_for(lattice, slices);
  read(path, p);
  try {
    check(p, lattice, slices);
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("{}: {}", path, e.what()));
  }
  return p;
}

std::string toml_of(const MultigridParameters& p) {
  std::string text =
      fmt::format("relaxations = {}\nrounds = {}\nleast_gain = {}\n", p.relaxations, p.most_rounds, p.least_gain);
  if (!p.smoother_precision.empty()) text += fmt::format("smoother_precision = \"{}\"\n", p.smoother_precision);
  if (p.coarsest_steps > 0) text += fmt::format("coarsest = \"{}\"\n", name_of(p.coarsest));
  text += fmt::format("coarsest_steps = {}\n", p.coarsest_steps);
  for (const MultigridLevel& l : p.levels)
    text += fmt::format(
        "\n[[{}]]\nblock = [{}]\nvectors = {}\nsmoother = \"{}\"\nsmoother_steps = {}\ncoarse_steps = {}\n"
        "storage = \"{}\"\n",
        levels, fmt::join(l.block, ", "), l.vectors, smoother_of(l), l.smoother_steps, l.coarse_steps,
        l.packed ? "half" : "single");
  return text;
}

}  // namespace quarksmith::runs
