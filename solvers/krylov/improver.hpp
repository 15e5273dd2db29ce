/// \file
/// What makes solutions better before the recurrence of a method finishes them.
#pragma once

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// A method whose iterations take matrices that the host computes with, in place of a recurrence that the device runs
/// by itself (solvers/krylov/recurrence.hpp).
class Improver {
 public:
  virtual ~Improver() = default;
  /// Improves x as far as it can; columns that miss their tolerance then are left to others (KrylovBatch).
  /// \return iterations, applications, residual and events of each right-hand side.
  virtual std::vector<SolverResult> improve(SpinorField& x, const SpinorField& b, const SolverOptions& options,
                                            const std::vector<double>& tolerances) = 0;
  /// Leaves what earlier right-hand sides have found for later ones.
  virtual void forget() {}
  /// The operators are others than before, as along a trajectory: what is kept has to serve them too.
  virtual void operators_changed() {}
  /// Seconds of the iterations so far, and of them those in which the host computed.
  virtual double seconds() const = 0;
  virtual double host_seconds() const = 0;
};

/// What one is made for.
struct ImproverSetting {
  const LinearOperator &outer, &inner;  ///< A twice, or in two precisions; they outlive it
  bool hermitian;                       ///< A is, and positive
  int rhs;                              ///< right-hand sides that are expected
  double deviation;                     ///< of the links of `inner` from those of `outer`, relative; 0: the same
};

}  // namespace quarksmith
