#include "solvers/multigrid/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

auto numbers_of(const MultigridLevel& l) {
  return std::tuple(l.block, l.vectors, l.smoother, l.smoother_steps, l.coarse_steps, l.packed);
}

/// A number of the parameters that goes from one value of a list to the next.
MultigridMove along(std::string what, std::vector<int> values, bool up, std::function<int*(MultigridParameters&)> of) {
  return {fmt::format("{} {}", up ? "more" : "fewer", what), [=](MultigridParameters& p) {
            int* number = of(p);
            if (number == nullptr) return false;
            const auto further = [&](int v) { return up ? v > *number : v < *number; };
            const auto next = up ? std::find_if(values.begin(), values.end(), further) : values.end();
            const auto last = up ? values.rend() : std::find_if(values.rbegin(), values.rend(), further);
            if (up ? next == values.end() : last == values.rend()) return false;
            *number = up ? *next : *last;
            return true;
          }};
}

}  // namespace

bool same(const MultigridParameters& a, const MultigridParameters& b) {
  const auto equal = [](const MultigridLevel& x, const MultigridLevel& y) { return numbers_of(x) == numbers_of(y); };
  return std::equal(a.levels.begin(), a.levels.end(), b.levels.begin(), b.levels.end(), equal) &&
         a.relaxations == b.relaxations && a.most_rounds == b.most_rounds && a.least_gain == b.least_gain &&
         a.coarsest == b.coarsest && a.coarsest_steps == b.coarsest_steps && a.width == b.width;
}

std::vector<MultigridMove> multigrid_moves(const Lattice& lattice, int slices) {
  std::vector<MultigridMove> all;
  for (const int length : {4, 2, 3, 6, 5, 8})
    all.push_back({fmt::format("blocks of {}^4", length), [=](MultigridParameters& p) {
                     const auto& fine = p.levels.front();
                     MultigridParameters q = multigrid_for(lattice, slices, length, fine.vectors);
                     for (const int n : q.levels.front().block)
                       if (n != length) return false;
                     q.levels.front().smoother_steps = fine.smoother_steps;
                     q.relaxations = p.relaxations;
                     p = q;
                     return true;
                   }});
  const auto both = [&](const std::string& what, const std::vector<int>& values,
                        const std::function<int*(MultigridParameters&)>& of, bool up_first) {
    all.push_back(along(what, values, up_first, of));
    all.push_back(along(what, values, !up_first, of));
  };
  both("vectors", {6, 12, 18, 24, 30, 36, 42, 48}, [](MultigridParameters& p) { return &p.levels[0].vectors; }, false);
  both(
      "steps of the smoother", {2, 3, 4, 6, 8, 12, 16},
      [](MultigridParameters& p) { return &p.levels[0].smoother_steps; }, false);
  both(
      "steps on the second level", {1, 2, 3, 4, 6},
      [](MultigridParameters& p) { return p.levels.size() > 1 ? &p.levels[0].coarse_steps : nullptr; }, true);
  both("relaxations", {10, 15, 25, 35, 50, 75, 100}, [](MultigridParameters& p) { return &p.relaxations; }, false);
  both(
      "steps of the second smoother", {2, 3, 4, 6, 8},
      [](MultigridParameters& p) { return p.levels.size() > 1 ? &p.levels[1].smoother_steps : nullptr; }, true);
  both("rounds at most", {1, 2, 3, 4, 5}, [](MultigridParameters& p) { return &p.most_rounds; }, false);
  both(
      "steps on the coarsest level", {10, 20, 50, 100, 200},
      [](MultigridParameters& p) { return p.coarsest_steps > 0 ? &p.coarsest_steps : nullptr; }, false);
  return all;
}

MultigridParameters tuned(const MultigridParameters& begin, const std::vector<MultigridMove>& moves,
                          const MultigridCostOf& cost_of, const std::function<bool()>& up) {
  MultigridParameters best = begin;
  std::vector<MultigridParameters> tried = {begin};
  double least = cost_of(begin, "as chosen");
  const auto better = [&](const MultigridMove& move) {
    MultigridParameters p = best;
    if (!move.step(p)) return false;
    const auto known = [&](const MultigridParameters& q) { return same(p, q); };
    if (std::any_of(tried.begin(), tried.end(), known)) return false;
    tried.push_back(p);
    const double cost = cost_of(p, move.what);
    if (!(cost < least)) return false;
    least = cost;
    best = p;
    return true;
  };
  for (bool again = true; again && !up();) {
    again = false;
    for (const MultigridMove& move : moves)
      while (!up() && better(move)) again = true;
  }
  return best;
}

}  // namespace quarksmith
