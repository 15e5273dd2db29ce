/// \file
/// Operators of an action whose eigenvectors are computed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "solvers/actions/action.hpp"
#include "solvers/eigen/eigenpairs.hpp"
#include "solvers/krylov/normal.hpp"

namespace quarksmith {

/// The operator of M = T + h D whose eigenpairs are searched for.
enum class Spectrum {
  normal,     ///< M^+ M, or that of the even-odd form
  hermitian,  ///< gamma_5 M on all sites
  staggered   ///< -h^2 D^2 on the even sites, for D^+ = -D and T a number
};
/// `normal`, `hermitian`, `staggered`. \throws UnknownName another name.
Spectrum spectrum_of(const std::string& name);

/// The number s with A = B + s, found with a random vector; none if A - B is not a number.
std::optional<double> shift_between(const LinearOperator& a, const LinearOperator& b, const BasisInfo& basis);

/// An operator of a Spectrum, for an action on its links.
class EigenOperator {
 public:
  /// \param dirac of the action in double; outlives this. \param basis of its spinors.
  /// \param even_odd_form of Spectrum::normal. \param block vectors to which it is applied together.
  /// \throws UsageError the action does not have that operator.
  EigenOperator(Spectrum kind, const Action& action, const DiracOperator& dirac, const BasisInfo& basis,
                EvenOddForm even_odd_form, int block);
  ~EigenOperator();
  Eigenpairs find(const EigenOptions& options) const;
  /// |A v - lambda v| of vectors of unit length, one after another.
  std::vector<double> residuals(const SpinorField& vectors, const std::vector<double>& values) const;
  /// The positive operator whose Krylov spaces are searched: M^+ M or -D^2, also for gamma_5 M.
  const LinearOperator& positive() const { return *positive_; }

 private:
  struct Root;
  std::unique_ptr<LinearOperator> made_;
  std::unique_ptr<EvenOddOperator> even_odd_;
  std::unique_ptr<Root> root_;
  const LinearOperator* positive_;
  double shift_ = 0;  ///< of eigenvalues of the positive operator from those that are wanted
};

}  // namespace quarksmith
