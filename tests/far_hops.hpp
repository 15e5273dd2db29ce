/// \file
/// An operator whose hops are two of another one's.
#pragma once

#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// A A: it couples blocks across edges, too.
class FarHops final : public LinearOperator {
 public:
  explicit FarHops(const LinearOperator& a) : a_(&a), between_(a.field(12)) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override {
    SpinorField between = between_.columns(0, in.rhs());
    a_->apply(between, in, dagger);
    a_->apply(out, between, dagger);
  }
  Subset subset() const override { return a_->subset(); }
  const DomainPointer& domain() const override { return a_->domain(); }
  const PrecisionInfo& precision() const override { return a_->precision(); }
  double flops() const override { return 2 * a_->flops(); }

 private:
  const LinearOperator* a_;
  mutable SpinorField between_;
};

}  // namespace quarksmith
