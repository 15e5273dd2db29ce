/// \file
/// A search for parameters of multigrid.
#pragma once

#include <functional>
#include <string>

#include "solvers/multigrid/parameters.hpp"

namespace quarksmith {

/// One coordinate of the search, in one direction. \return false: it leads nowhere from there.
struct MultigridMove {
  std::string what;
  std::function<bool(MultigridParameters& p)> step;
};

/// The cost of parameters, infinite if they do not serve. \param what in what they differ from the best ones so far.
using MultigridCostOf = std::function<double(const MultigridParameters& p, const std::string& what)>;

/// Moves on a lattice: blocks of the finest level, with all that follows from them; its vectors; steps of smoothers,
/// of GCR on coarse levels, of relaxation; rounds of adaptation.
std::vector<MultigridMove> multigrid_moves(const Lattice& lattice, int slices);

/// Coordinate search: what makes the cost less is kept and done once more, until no move does, or `up` says that the
/// time is. Nothing is tried twice.
MultigridParameters tuned(const MultigridParameters& begin, const std::vector<MultigridMove>& moves,
                          const MultigridCostOf& cost_of, const std::function<bool()>& up);

/// Whether two sets of parameters are the same multigrid.
bool same(const MultigridParameters& a, const MultigridParameters& b);

}  // namespace quarksmith
