/// \file
/// A twisted mass that is added to an even-odd form.
#pragma once

#include "solvers/actions/dirac.hpp"

namespace quarksmith {

/// M + i twist gamma_5 for an operator M of four spins: with gamma_5 M Hermitian it gives det(M^+ M + twist^2), where
/// M may leave the odd sites out (M. Luescher and F. Palombi, arXiv:0810.0946; T_oo^-1 has no twist).
///
/// For M = 1 - T_ee^-1 D_eo T_oo^-1 D_oe / 4 it is M + i twist gamma_5 T_ee, where T_ee M has that symmetry:
/// det(M^+ M + twist^2 T_ee^2), as Chroma has it (shifted_linop_w.h, seoprec_clover_linop_w.cc).
class TwistedOperator final : public LinearOperator {
 public:
  /// \param m outlives this. \param rhs right-hand sides at most.
  /// \param symmetric M itself if it is of the symmetric form, else null.
  /// \throws MissingKernel the build cannot multiply by gamma_5 in this precision.
  TwistedOperator(const LinearOperator& m, double twist, const BasisInfo& basis, int rhs,
                  const EvenOddOperator* symmetric = nullptr);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  /// Adds the force of the twist term; it is not zero for the symmetric form, i twist gamma_5 T_ee. \param x,y as of
  /// DiracMatrix::add_force.
  void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const;
  /// out = i twist gamma_5 in, or its conjugate. \param out may be in.
  void turn(SpinorField& out, const SpinorField& in, Dagger dagger) const;
  Subset subset() const override { return m_->subset(); }
  const DomainPointer& domain() const override { return m_->domain(); }
  const PrecisionInfo& precision() const override { return m_->precision(); }
  double flops() const override { return m_->flops(); }
  double bytes_sent() const override { return m_->bytes_sent(); }

 private:
  const LinearOperator* m_;
  const EvenOddOperator* symmetric_;
  double twist_;
  const Kernel* turn_;
  mutable SpinorField turned_;
};

}  // namespace quarksmith
