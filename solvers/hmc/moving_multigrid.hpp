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

/// An operator M, or M' with M^+ = gamma_5 M' gamma_5, in the forms that cycles need.
struct CycleOperator {
  const DiracOperator* dirac = nullptr;        ///< in single
  const EvenOddOperator* symmetric = nullptr;  ///< in the precision of iterations, where its form is symmetric
};

/// The operators of both precisions, and their common properties.
struct CycleOperators {
  CycleOperator plain, conjugate;             ///< often the same
  EvenOddForm smoothing = EvenOddForm::none;  ///< form in which cycles smooth
  const LinearOperator* iterated = nullptr;   ///< in the precision of iterations
  const BasisInfo* basis = nullptr;
};

/// A preconditioner for M, or for its even-odd form, and for its conjugate, on changing links.
///
/// As M^+ = gamma_5 M' gamma_5, cycles of M' are used for the conjugate: those of M if M' = M, else cycles with the
/// same near-null vectors, since M' = M(-mu) differs from M by a term that commutes with P. A symmetric form A = T^-1 S
/// with S^+ = gamma_5 S' gamma_5 has (A^+)^-1 = T' gamma_5 S'^-1 gamma_5, and S'^-1 is what M'^-1 makes of sources on
/// even sites. When the links have changed the finest level always has the new ones; coarse operators, and near-null
/// vectors by a round of adaptation, are renewed as soon as the additional iterations since the first solve, caused by
/// their age, exceed the cost of this. Solutions depend on it only within the tolerance.
class MovingMultigrid {
 public:
  /// \param parameters none: as chosen for the lattice. \param look called during setups.
  MovingMultigrid(std::optional<MultigridParameters> parameters, std::function<void()> look);
  ~MovingMultigrid();

  /// Sets the operators on the present links, which must exist until the next call.
  void follow(const CycleOperators& present);
  /// Renews levels for the present links as far as that pays. \return whether recorded programs of cycles have become
  /// invalid.
  /// \throws UsageError M^+ is not gamma_5 M' gamma_5, or multigrid cannot be used for the operator.
  [[nodiscard]] bool prepare();
  /// Preconditioners for A and A^+, at fixed addresses.
  Preconditioner& plain();
  Preconditioner& adjoint();

  /// Records a solve. \param decades by which it reduced the residual.
  void solved(int iterations, double decades);
  /// To be called when a solve missed its tolerance: near-null vectors will be made anew.
  void failed();
  /// Discards all levels: the next solve begins with a new setup.
  void forget() { multigrid_.reset(), conjugate_.reset(), moved_ = true; }
  /// Number of setups and refreshes of near-null vectors since the last call.
  int refreshes() { return std::exchange(refreshes_, 0); }

 private:
  class Cycle;
  /// Whether M' differs from M.
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
  std::unique_ptr<Multigrid> multigrid_, conjugate_;  ///< conjugate_: only if M' differs from M
  std::unique_ptr<Cycle> plain_, adjoint_;
  bool moved_ = true;
  /// Decades per iteration of the first solve with the present near-null vectors, and with the present coarse
  /// operators.
  double first_rate_ = 0, coarse_rate_ = 0;
  double lost_by_vectors_ = 0, lost_by_coarse_ = 0;  ///< applications
  int refreshes_ = 0;
};

/// |gamma_5 M' gamma_5 v - M^+ v| / |M^+ v| for a random vector.
double gamma5_deviation(const LinearOperator& m, const LinearOperator& conjugate, const BasisInfo& basis);

}  // namespace quarksmith
