/// \file
/// An operator that fails once.
#pragma once

#include "tests/dense.hpp"

namespace support {

using namespace quarksmith;

/// An operator one of whose results is lost.
class Lossy final : public LinearOperator {
 public:
  explicit Lossy(const LinearOperator& a) : a_(&a) {}
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override {
    a_->apply(out, in, dagger);
    if (++calls_ == 11) out.fill(255);
  }
  Subset subset() const override { return a_->subset(); }
  const DomainPointer& domain() const override { return a_->domain(); }
  const PrecisionInfo& precision() const override { return a_->precision(); }
  double flops() const override { return a_->flops(); }

 private:
  const LinearOperator* a_;
  mutable int calls_ = 0;
};

/// The even-odd operator in double on a hot lattice; an operator whose result is lost in its eleventh application. Only
/// on the CPU: a recorded program has no eleventh call.
struct LossySystem {
  /// Random right-hand sides.
  SpinorField sources(int rhs) const {
    SpinorField b(domain, find_precision("double"), Subset::even, rhs);
    for (int n = 0; n < rhs; ++n)
      upload(reference::random_spinor(domain->lattice(), 7 + unsigned(n)), b, find_basis("non_relativistic"), n);
    return b;
  }

  DomainPointer domain = std::make_shared<Domain>(Lattice({4, 4, 4, 4}), Device::cpu());
  HostGauge gauge = hot_gauge(domain->lattice(), 5);
  std::unique_ptr<DiracOperator> dirac = dense::dirac(dense::wilson(0), gauge, domain, "r12");
  std::unique_ptr<EvenOddOperator> exact = dirac->even_odd_operator(EvenOddForm::symmetric, 12);
  Lossy lossy{*exact};
};

}  // namespace support
