#include "solvers/hmc/even_twist.hpp"

#include "runtime/registry.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {

TwistedOperator::TwistedOperator(const LinearOperator& m, double twist, const BasisInfo& basis, int rhs,
                                 const HoppingTerm* term)
    : m_(&m),
      term_(term != nullptr && term->has_term() ? term : nullptr),
      twist_(term != nullptr && !term->has_term() ? twist * term->term().diagonal() : twist),
      turn_(&find(m.domain()->device().kernels(),
                  {.operation = "apply_twist", .precision = m.precision().name, .basis = basis.name})),
      turned_(m.field(rhs)) {}

void TwistedOperator::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  m_->apply(out, in, dagger);
  SpinorField turned = turned_.columns(0, in.rhs());
  if (term_ != nullptr) term_->apply_term(turned, in, Parity::even);
  turn(turned, term_ == nullptr ? in : turned, dagger);
  Blas(out).axpby(1, turned, 1, out);
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
