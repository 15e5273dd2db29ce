/// \file
/// Polynomials that enhance the low end of a spectrum.
#pragma once

#include "solvers/krylov/blas.hpp"

namespace quarksmith {

/// T_n((2 A - b - a) / (b - a)) of a Hermitian A: of modulus 1 at most on [a, b], growing fast below a (Y. Saad, Math.
/// Comp. 42 (1984) 567). The degree n is even: values below a are positive.
class ChebyshevFilter final : public LinearOperator {
 public:
  /// \param a outlives this. \param rhs right-hand sides at most.
  ChebyshevFilter(const LinearOperator& a, int rhs);
  /// \param growth approximate value of the filter at `lowest`, which determines the degree.
  void set_range(double lowest, double lower, double upper, double growth);

  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return a_->subset(); }
  const DomainPointer& domain() const override { return a_->domain(); }
  const PrecisionInfo& precision() const override { return a_->precision(); }
  Components components() const override { return a_->components(); }
  int slices() const override { return a_->slices(); }
  double flops() const override { return degree_ * a_->flops(); }

  int degree() const { return degree_; }
  double lower() const { return lower_; }
  /// The eigenvalue of A below a for which the filter is `value`, above 1.
  double eigenvalue(double value) const;
  /// Modulus of the filter's derivative at the eigenvalue for which it is `value`.
  double slope(double value) const;

 private:
  const LinearOperator* a_;
  Blas blas_;
  double lower_ = 0, upper_ = 1;
  int degree_ = 2;
  mutable SpinorField one_, other_;
};

}  // namespace quarksmith
