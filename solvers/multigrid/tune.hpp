/// \file
/// A search for parameters of multigrid.
#pragma once

#include <functional>
#include <string>

#include "solvers/multigrid/parameters.hpp"

namespace quarksmith {

/// A move of the search: changes one coordinate in one direction. \return false if it cannot be changed further.
struct MultigridMove {
  std::string what;
  std::function<bool(MultigridParameters& p)> step;
};

/// The cost of parameters, infinite if they cannot be used. \param what their difference from the best ones so far.
using MultigridCostOf = std::function<double(const MultigridParameters& p, const std::string& what)>;

/// Moves for a lattice: blocks of the finest level, from which coarser levels follow; its near-null vectors; steps of
/// smoothers, of GCR on coarse levels, and of relaxation; rounds of adaptation.
std::vector<MultigridMove> multigrid_moves(const Lattice& lattice, int slices);

/// Coordinate search: a move that lowers the cost is kept and repeated, until no move lowers it or `up` reports that
/// the time is over. No parameters are tried twice.
MultigridParameters tuned(const MultigridParameters& begin, const std::vector<MultigridMove>& moves,
                          const MultigridCostOf& cost_of, const std::function<bool()>& up);

/// Whether two sets of parameters are equal.
bool same(const MultigridParameters& a, const MultigridParameters& b);

}  // namespace quarksmith
