/// \file
/// A^+ A as an operator of its own.
#pragma once

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// out = A^+ A in. Hermitian: `dagger` makes no difference.
class NormalOperator final : public LinearOperator {
 public:
  /// \param a outlives this.
  /// \param rhs right-hand sides at most.
  NormalOperator(const LinearOperator& a, int rhs) : a_(&a), work_(a.field(rhs)) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger) const override {
    SpinorField work = work_.columns(0, in.rhs());
    a_->apply(work, in, Dagger::no);
    a_->apply(out, work, Dagger::yes);
  }
  Subset subset() const override { return a_->subset(); }
  const DomainPointer& domain() const override { return a_->domain(); }
  const PrecisionInfo& precision() const override { return a_->precision(); }
  Components components() const override { return a_->components(); }
  int slices() const override { return a_->slices(); }
  double flops() const override { return 2 * a_->flops(); }

 private:
  const LinearOperator* a_;
  mutable SpinorField work_;
};

}  // namespace quarksmith
