/// \file
/// First guesses of solves along a trajectory from those before (R. C. Brower, T. Ivanenko, A. R. Levi and K. N.
/// Orginos, hep-lat/9509012).
#pragma once

#include <deque>

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// The last solutions of M^+ M x = b while the links of M change.
class ChronologicalGuess {
 public:
  /// \param most solutions that are kept; 0: none, and every guess is 0.
  explicit ChronologicalGuess(int most) : most_(most) {}

  /// x = sum c_i v_i with the least x^+ M^+ M x - 2 Re b^+ x: what conjugate gradients minimise, over the solutions
  /// that are kept.
  void guess(SpinorField& x, const SpinorField& b, const LinearOperator& m) const;
  /// Keeps a solution, and drops the oldest if there are more than `most`.
  void keep(const SpinorField& x);
  void forget() { basis_.clear(); }

 private:
  int most_;
  std::deque<SpinorField> basis_;  ///< orthonormal, of the space of the last solutions; the latest first
};

}  // namespace quarksmith
