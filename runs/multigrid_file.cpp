#include "runs/multigrid_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "runs/table_reader.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

constexpr const char* levels = "level";

std::vector<std::string> smoothers(std::vector<std::string> more = {}) {
  for (const std::string_view name : smoother_names()) more.emplace_back(name);
  return more;
}

void read_level(TableReader& t, MultigridLevel& level) {
  std::vector<long long> block(level.block.begin(), level.block.end());
  std::string smoother(smoother_of(level)), storage = level.packed ? "half" : "single";
  t.read_rest([&](Members::Adder& add) {
    add("block", Member::Integers{&block, directions}, "sites of its blocks: [4, 4, 4, 4]").range(1, 64);
    add("vectors", level.vectors, "near-null vectors that span it").range(chiral_numbers, most_vectors);
    add("smoother", smoother, "its method").among(smoothers({std::string(polynomial)}));
    add("smoother_steps", level.smoother_steps, "of that").range(1, 100);
    add("coarse_steps", level.coarse_steps, "on the level below").range(1, MethodParameters::most_directions);
    add("storage", storage, "of its operator").among({"half", "single"});
  });
  if (level.vectors % chiral_numbers != 0)
    t.refuse(Refusal::Kind::range, "vectors",
             fmt::format("vectors = {}; use a multiple of {} up to {}", level.vectors, chiral_numbers, most_vectors));
  std::copy(block.begin(), block.end(), level.block.begin());
  level.smoother = smoother == polynomial ? std::nullopt : std::optional(method_of(smoother));
  level.packed = storage == "half";
}

/// \param p becomes what the file says.
void read(const std::string& path, MultigridParameters& p) {
  const Table contents = read_toml(path);
  TableReader file(contents, path, "multigrid");
  std::vector<TableReader> tables = file.tables(levels, levels);
  std::string coarsest = name_of(p.coarsest);
  file.read_rest([&](Members::Adder& add) {
    add("relaxations", p.relaxations, "steps with which near-null vectors begin").range(1, 1000);
    add("rounds", p.most_rounds, "of adaptation at most").range(0, 100);
    add("least_gain", p.least_gain, "of a round").range(0, std::nextafter(1.0, 0.0));
    add("coarsest", coarsest, "method of the coarsest level").among(smoothers());
    add("coarsest_steps", p.coarsest_steps, "of that").range(0, 10000);
    add("smoother_precision", p.smoother_precision, "of the finest level").among({"half", "single"});
  });
  if (p.coarsest_steps == 0 && file.has("coarsest"))
    file.refuse(Refusal::Kind::applies, "coarsest",
                "coarsest acts with coarsest_steps alone; add these, or leave it out");
  p.coarsest = method_of(coarsest);
  if (tables.empty()) return;
  const MultigridLevel last = p.levels.back();
  p.levels.resize(tables.size(), last);
  for (std::size_t n = 0; n < tables.size(); ++n) read_level(tables[n], p.levels[n]);
  if (p.levels.back().coarse_steps != last.coarse_steps)  // files of earlier versions state the default
    tables.back().refuse(Refusal::Kind::applies, "coarse_steps",
                         "coarse_steps of the last level: the level below is the coarsest; use coarsest_steps");
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
