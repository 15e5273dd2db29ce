/// \file
/// A twisted mass on the sites that an even-odd form keeps.
#pragma once

#include <optional>

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// M + i twist gamma_5 for an operator M of four spins: with gamma_5 M Hermitian it gives det(M^+ M + twist^2), where
/// M may leave the odd sites out (M. Luescher and F. Palombi, arXiv:0810.0946; T_oo^-1 has no twist).
class TwistedOperator final : public LinearOperator {
 public:
  /// \param m outlives this. \param rhs right-hand sides at most.
  /// \throws MissingKernel the build cannot multiply by gamma_5 in this precision.
  TwistedOperator(const LinearOperator& m, double twist, const BasisInfo& basis, int rhs);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return m_->subset(); }
  const DomainPointer& domain() const override { return m_->domain(); }
  const PrecisionInfo& precision() const override { return m_->precision(); }
  double flops() const override { return m_->flops(); }
  double bytes_sent() const override { return m_->bytes_sent(); }

 private:
  const LinearOperator* m_;
  double twist_;
  const Kernel* turn_;
  mutable SpinorField turned_;
};

}  // namespace quarksmith
