/// \file
/// First guesses from eigenvectors.
#pragma once

#include <memory>

#include "solvers/eigen/eigen_operator.hpp"

namespace quarksmith {

/// Eigenpairs of the operator A that a solve iterates with, or of A^+ A, in double.
///
/// The guess x = V Lambda^-1 V^+ b for a Hermitian A, else V Lambda^-1 V^+ A^+ b, is the component of the solution in
/// the space of these vectors: conjugate gradients on A^+ A stay orthogonal to them, and converge as if their
/// eigenvalues were absent.
class Deflation {
 public:
  /// \param action of the solves, with its even-odd form. Eigenvalues of `staggered` vectors are shifted to its mass.
  /// \param shift of A^+ A relative to the operator of the pairs, without that of the mass of `staggered` ones.
  /// \throws UsageError the pairs cannot be used for such solves.
  Deflation(Spectrum kind, std::vector<double> values, SpinorField vectors, const Action& action,
            EvenOddForm even_odd_form, double shift = 0);
  int count() const { return static_cast<int>(values_.size()); }
  /// \param a operator of the solve, in double. \throws UsageError its vectors are of another kind.
  void guess(SpinorField& x, const SpinorField& b, const LinearOperator& a, bool hermitian) const;

 private:
  std::vector<double> values_;  ///< of A or A^+ A
  SpinorField vectors_;         ///< columns are padded (BlockBlas)
};

}  // namespace quarksmith
