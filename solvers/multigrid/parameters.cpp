#include "solvers/multigrid/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/error.hpp"
#include "solvers/multigrid/coarse_ranks.hpp"

namespace quarksmith {
namespace {

/// The first of some block lengths that divides the local lattice and leaves an even extent of at least four, or else
/// of two; 1 if there is none. With only two blocks in a direction, which are neighbours on both sides, a coarse
/// lattice represents low modes poorly.
int block_length(const Lattice& lattice, int mu, std::initializer_list<int> lengths) {
  const int extent = lattice.global_extent(mu);
  for (const int least : {4, 2})
    for (const int length : lengths)
      if (extent % (2 * length) == 0 && lattice.extent(mu) % length == 0 && extent / length >= least) return length;
  return 1;
}

long long sites_of(const Coordinates& x) { return static_cast<long long>(x[0]) * x[1] * x[2] * x[3]; }

}  // namespace

MultigridParameters multigrid_for(const Lattice& lattice, int slices, int length, int vectors) {
  MultigridParameters p;
  Lattice here = lattice;
  for (long long numbers = 12LL * slices;
       p.levels.empty() || !solved_directly(here.global_sites(), p.levels.back().vectors);) {
    MultigridLevel level;
    for (int mu = 0; mu < directions; ++mu) {
      const bool fits = length > 0 && here.global_extent(mu) % (2 * length) == 0 && here.extent(mu) % length == 0;
      level.block[mu] = !p.levels.empty() ? block_length(here, mu, {2, 3})
                        : fits            ? length
                                          : block_length(here, mu, {4, 3, 5, 2});
    }
    if (!p.levels.empty()) level.smoother_steps = 4;
    const long long block = sites_of(level.block);
    if (block < 2) break;
    if (p.levels.empty()) level.vectors = vectors;
    while (level.vectors > chiral_numbers && 4 * level.vectors > block * numbers) level.vectors -= chiral_numbers;
    here = blocks_of(here, level.block, level.vectors, Parts::gathered);
    numbers = 2 * level.vectors;
    p.levels.push_back(level);
  }
  if (p.levels.empty())
    throw UsageError(fmt::format("multigrid: the lattice {} has no blocks that leave even extents; use bicgstab",
                                 lattice.global_text()));
  return p;
}

bool is_smoother(Method method) {
  return method->offered && method->outer_solver == nullptr && method->cycle_fields == 0 && method != Method::automatic;
}

std::vector<std::string_view> smoother_names() {
  std::vector<std::string_view> all;
  for (const std::string_view name : method_names())
    if (is_smoother(method_of(std::string(name)))) all.push_back(name);
  return all;
}

std::string_view smoother_of(const MultigridLevel& level) {
  return level.smoother ? name_of(*level.smoother) : polynomial;
}

void check(const MultigridParameters& p, const Lattice& lattice, int slices) {
  Lattice here = lattice;
  long long numbers = static_cast<long long>(spinor_numbers) * slices;
  for (std::size_t n = 0; n < p.levels.size(); ++n) {
    const MultigridLevel& l = p.levels[n];
    const auto fail = [&](const std::string& why) { throw UsageError(fmt::format("level {}: {}", n + 1, why)); };
    if (const std::string misfit = misfit_of(l.block, here); !misfit.empty()) fail(misfit);
    const long long inside = sites_of(l.block) * numbers;
    if (2 * l.vectors > inside)
      fail(fmt::format(
          "blocks of {} have {} numbers, too few for {} near-null vectors of each chirality; use {} at most",
          fmt::join(l.block, "x"), inside, l.vectors, inside / 2 / chiral_numbers * chiral_numbers));
    here = blocks_of(here, l.block, l.vectors, Parts::gathered);
    numbers = 2 * l.vectors;
  }
}

int coarsest_steps_for(const MultigridParameters& p, long long sites) {
  if (p.coarsest_steps > 0) return p.coarsest_steps;
  return solved_directly(sites, p.levels.back().vectors) ? 0 : steps_without_inverse;
}

std::string text_of(const MultigridParameters& p, const Lattice& lattice) {
  std::string text = "multigrid: level    lattice  block    vectors  in      smoother      next level solved by";
  Coordinates extent = lattice.global_extent();
  const auto times = [](const Coordinates& x) { return fmt::format("{}", fmt::join(x, "x")); };
  for (std::size_t n = 0; n < p.levels.size(); ++n) {
    const MultigridLevel& l = p.levels[n];
    const std::string before = times(extent);
    for (int mu = 0; mu < directions; ++mu) extent[mu] /= l.block[mu];
    const int steps = coarsest_steps_for(p, sites_of(extent));
    const std::string how = n + 1 < p.levels.size() ? fmt::format("gcr:{}, each with a cycle", l.coarse_steps)
                            : steps > 0             ? fmt::format("{}:{}", name_of(p.coarsest), steps)
                                                    : "a dense inverse";
    text += fmt::format("\n{:16} {:>10}  {:7} {:8}  {:6}  {:12}  {}", n + 1, before, times(l.block), l.vectors,
                        l.packed ? "half" : "single", fmt::format("{}:{}", smoother_of(l), l.smoother_steps), how);
  }
  return text + fmt::format("\n{:16} {:>10}", p.levels.size() + 1, times(extent));
}

}  // namespace quarksmith
