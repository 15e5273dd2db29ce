/// \file
/// Baryons from the terms of their two-point functions.
#pragma once

#include <map>
#include <span>

#include "solvers/measure/interpolators.hpp"
#include "solvers/measure/row_matrices.hpp"

namespace quarksmith {

/// The colour matrix of a quark line on the sites of a row: [3 source + sink].
using RowColours = std::array<RowNumber, 9>;

/// K_cc' = sum of eps_abc eps_a'b'c' A_aa' B_bb'
void cofactors(const RowColours& a, const RowColours& b, RowColours& k);

/// The quark lines of some terms, each of them once: lines of one propagator are the same.
class BaryonElements {
 public:
  explicit BaryonElements(std::span<const Propagator* const> lines);
  int number_of(QuarkElement e);
  /// The matrices of all of them, in their order.
  std::vector<RowColours> load(long long first, int sites) const;

 private:
  std::vector<int> propagator_of_;  ///< by line
  std::vector<const Propagator*> propagators_;
  std::vector<QuarkElement> elements_;  ///< `line` is a number of a propagator
  std::map<QuarkElement, int> numbers_;
};

/// sum_x exp(i p.(x - x0)) of each two-point function, in the order of momentum_sums. \param lines the propagator of
/// each line. Whatever products occur in several of them are computed once. Collective; all ranks get the same numbers.
std::vector<Complex64> baryon_sums(std::span<const Propagator* const> lines, std::span<const BaryonTerms> baryons,
                                   const MomentumPhases& phases, Communicator& communicator = *Communicator::self());

}  // namespace quarksmith
