/// \file
/// What a level of multigrid knows of its operator.
#pragma once

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// M on all sites, and an operator on half of them whose systems stand for those of M, or M itself once more.
class EvenOddSystem {
 public:
  virtual ~EvenOddSystem() = default;
  virtual const LinearOperator& full() const = 0;
  virtual const LinearOperator& reduced() const = 0;
  /// Right-hand side of the reduced system; the b on its sites, zero on others, of which that is the right-hand side;
  /// solution of M x = b from that of the reduced one.
  virtual void prepare(SpinorField& reduced, const SpinorField& b) const = 0;
  virtual void source(SpinorField& b, const SpinorField& reduced) const = 0;
  virtual void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const = 0;
};

}  // namespace quarksmith
