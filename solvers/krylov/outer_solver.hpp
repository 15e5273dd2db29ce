/// \file
/// Deflating outer solvers: they improve solutions before the recurrence of a method finishes them.
#pragma once

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// A method whose iterations need matrix computations on the host, unlike a recurrence, which the device runs alone
/// (solvers/krylov/recurrence.hpp): EigCG, GMRES-DR, block CG.
class OuterSolver {
 public:
  virtual ~OuterSolver() = default;
  /// Improves x as far as possible; columns that then miss their tolerance are left to a KrylovBatch.
  /// \return iterations, applications, residual and events of each right-hand side.
  virtual std::vector<SolverResult> improve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                            const std::vector<double>& tolerances) = 0;
  /// Discards what earlier right-hand sides have found for later ones.
  virtual void forget() {}
  /// To be called when the operators have changed, as along a trajectory; kept vectors are adapted to the new ones.
  virtual void operators_changed() {}
  /// Seconds of all iterations so far, and the part of them in which the host computed.
  virtual double seconds() const = 0;
  virtual double host_seconds() const = 0;
};

/// Arguments of an outer solver.
struct OuterSolverSetting {
  const LinearOperator &outer, &inner;  ///< A twice, or in two precisions; both must outlive it
  bool hermitian;                       ///< whether A is Hermitian and positive
  int rhs;                              ///< expected number of right-hand sides
  double deviation;                     ///< of the links of `inner` from those of `outer`, relative; 0: the same
};

}  // namespace quarksmith
