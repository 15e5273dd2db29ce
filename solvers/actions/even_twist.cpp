#include "solvers/actions/even_twist.hpp"

#include "runtime/registry.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {

TwistedOperator::TwistedOperator(const LinearOperator& m, double twist, const BasisInfo& basis, int rhs,
                                 const EvenOddOperator* symmetric)
    : m_(&m),
      symmetric_(symmetric),
      twist_(twist),
      turn_(&find(m.domain()->device().kernels(), {.operation = "apply_twist",
                                                   .precision = m.precision().name,
                                                   .basis = basis.name,
                                                   .colours = m.components().colours})),
      turned_(m.field(rhs)) {}

void TwistedOperator::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  m_->apply(out, in, dagger);
  SpinorField turned = turned_.columns(0, in.rhs());
  if (symmetric_ != nullptr) symmetric_->multiply_term(turned, in);
  turn(turned, symmetric_ == nullptr ? in : turned, dagger);
  Blas(out).axpby(1, turned, 1, out);
}

/// y^+ i twist gamma_5 dT_ee x; on odd sites nothing.
void TwistedOperator::add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const {
  if (symmetric_ == nullptr) return;
  SpinorField psi(domain(), precision(), Subset::full, x.rhs(), x.components(), x.slices()), chi = psi.like();
  SpinorField left = y.like();
  turn(left, y, Dagger::yes);
  psi.fill(0);
  chi.fill(0);
  psi.copy_half(Parity::even, x);
  chi.copy_half(Parity::even, left);
  force.add_site_term(psi, chi, weight);
}

void TwistedOperator::turn(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  // The kernel is b (1 + i c gamma_5), in which a large c leaves nothing of the 1.
  constexpr double large = 0x1p70;
  Arguments a = arguments_for(*domain(), in.lanes(), in.rhs());
  a.b.re = twist_ / large;
  a.c.re = dagger == Dagger::yes ? -large : large;
  for (const Parity parity : {Parity::even, Parity::odd}) {
    if (subset() != Subset::full && int(subset()) != int(parity)) continue;
    a.parity = int(parity);
    a.x = in.operand(parity);
    a.out = out.operand(parity);
    domain()->device().run(*turn_, a);
  }
}

}  // namespace quarksmith
