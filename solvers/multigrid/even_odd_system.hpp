/// \file
/// The operator of a level of multigrid.
#pragma once

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// M on all sites, with its even-odd form on half of them (or M itself in its place).
class EvenOddSystem {
 public:
  virtual ~EvenOddSystem() = default;
  virtual const LinearOperator& full() const = 0;
  virtual const LinearOperator& even_odd_operator() const = 0;
  /// Right-hand side of the even-odd system (prepare); a b, zero on the other sites, with that right-hand side
  /// (source); solution of M x = b from that of the even-odd system (reconstruct).
  virtual void prepare(SpinorField& reduced, const SpinorField& b) const = 0;
  virtual void source(SpinorField& b, const SpinorField& reduced) const = 0;
  virtual void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const = 0;
};

}  // namespace quarksmith
