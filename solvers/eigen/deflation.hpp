/// \file
/// First guesses from eigenvectors.
#pragma once

#include <memory>

#include "solvers/eigen/eigen_operator.hpp"

namespace quarksmith {

/// Eigenpairs of the operator A that a solve iterates with, or of A^+ A, in double.
///
/// The guess x = V Lambda^-1 V^+ b of a Hermitian A, or V Lambda^-1 V^+ A^+ b, has all that these vectors have of the
/// solution: conjugate gradients on A^+ A stay orthogonal to them, and converge as if their eigenvalues were not there.
class Deflation {
 public:
  /// \param action that is solved for, by the even-odd form `reduction`. Eigenvalues of `staggered` vectors are
  /// shifted to its mass.
  /// \param shift of A^+ A from that of the pairs, but for the mass of `staggered` ones.
  /// \throws UsageError such pairs do not serve such a solve.
  Deflation(Spectrum kind, std::vector<double> values, SpinorField vectors, const Action& action,
            EvenOddForm even_odd_form, double shift = 0);
  int count() const { return static_cast<int>(values_.size()); }
  /// \param a that of the solve, in double. \throws UsageError its vectors are of another kind.
  void guess(SpinorField& x, const SpinorField& b, const LinearOperator& a, bool hermitian) const;

 private:
  std::vector<double> values_;  ///< of A or A^+ A
  SpinorField vectors_;         ///< columns are padded (BlockBlas)
};

}  // namespace quarksmith
