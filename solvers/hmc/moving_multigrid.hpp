/// \file
/// Multigrid along a trajectory: near-null vectors are made once and follow the links.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "solvers/actions/even_twist.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace quarksmith {

/// How cycles see an operator M, or M' with M^+ = gamma_5 M' gamma_5.
struct CycleOperator {
  const DiracOperator* dirac = nullptr;        ///< in single
  const EvenOddOperator* symmetric = nullptr;  ///< in the precision of iterations, where its form is symmetric
};

/// The operators of both precisions, and their common properties.
struct CycleOperators {
  CycleOperator plain, conjugate;             ///< often the same
  EvenOddForm smoothing = EvenOddForm::none;  ///< in which cycles smooth
  const LinearOperator* iterated = nullptr;   ///< in the precision of iterations
  const BasisInfo* basis = nullptr;
};

/// A preconditioner of M, or of its even-odd form, and of its conjugate, whose links move.
///
/// M^+ = gamma_5 M' gamma_5, so that cycles of M' serve the conjugate: those of M where M' is that, else of the same
/// near-null vectors, for M' = M(-mu) differs from M by what commutes with P. A symmetric form A = T^-1 S with S^+ =
/// gamma_5 S' gamma_5 has (A^+)^-1 = T' gamma_5 S'^-1 gamma_5, and S'^-1 is what M'^-1 makes of sources on even sites.
/// When the links have moved the finest level is always that of the new ones; coarse operators, and near-null vectors
/// by a round of adaptation, are made anew as soon as the iterations that they cost by being old, over those of the
/// first solve, have come to what this takes. What a solve gives does not depend on it but within its tolerance.
class MovingMultigrid {
 public:
  /// \param parameters none: as chosen for the lattice. \param look called during setups.
  MovingMultigrid(std::optional<MultigridParameters> parameters, std::function<void()> look);
  ~MovingMultigrid();

  /// The operators of the present links, which outlive all that is solved until the next call.
  void follow(const CycleOperators& present);
  /// Brings levels up to the present links as far as that pays; what was recorded of cycles is void if it says so.
  /// \throws UsageError M^+ is not gamma_5 M' gamma_5, or multigrid does not serve the operator.
  [[nodiscard]] bool prepare();
  /// Preconditioners for A and A^+, at addresses that stay.
  Preconditioner& plain();
  Preconditioner& adjoint();

  /// Records a solve. \param decades by which it reduced the residual.
  void solved(int iterations, double decades);
  /// A solve missed its tolerance: near-null vectors are made anew.
  void failed();
  /// The next solve begins with a setup of its own.
  void forget() { multigrid_.reset(), conjugate_.reset(), moved_ = true; }
  /// Setups and refreshes of near-null vectors since it was last asked.
  int refreshes() { return std::exchange(refreshes_, 0); }

 private:
  class Cycle;
  /// Whether M' is another operator than M.
  bool has_two() const { return present_.plain.dirac != present_.conjugate.dirac; }
  std::unique_ptr<Multigrid> make(const CycleOperator CycleOperators::*of, const MultigridParameters& parameters,
                                  const NearNullVectors* begin) const;
  Multigrid::MakeSystem system(const CycleOperator CycleOperators::*of) const;
  void set_up();
  void make_conjugate();

  std::optional<MultigridParameters> parameters_;
  std::function<void()> look_;
  CycleOperators present_;
  std::unique_ptr<TwistedOperator> gamma5_;           ///< i gamma_5 in the precision of iterations
  std::unique_ptr<Multigrid> multigrid_, conjugate_;  ///< conjugate_: where there are two
  std::unique_ptr<Cycle> plain_, adjoint_;
  bool moved_ = true;
  /// Decades an iteration: of the first solve with the present vectors, and with the present coarse operators.
  double first_rate_ = 0, coarse_rate_ = 0;
  double lost_by_vectors_ = 0, lost_by_coarse_ = 0;  ///< applications
  int refreshes_ = 0;
};

/// |gamma_5 M' gamma_5 v - M^+ v| / |M^+ v| for a random vector.
double gamma5_deviation(const LinearOperator& m, const LinearOperator& conjugate, const BasisInfo& basis);

}  // namespace quarksmith
