#include "solvers/smearing.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "runtime/halo.hpp"

namespace quarksmith {

GaussianSmearing::GaussianSmearing(std::shared_ptr<const LinkField> links, double width, int steps)
    : links_(std::move(links)), width_(width), steps_(steps) {
  if (!(width > 0) || steps < 1)
    throw UsageError(fmt::format("Gaussian smearing of width {} in {} steps; both must be positive", width, steps));
  kernel_ = &find(links_->domain().device().kernels(), {.operation = "laplace3",
                                                        .precision = links_->precision().name,
                                                        .links = links_->storage().name,
                                                        .epilogue = "axpby"});
}

void GaussianSmearing::apply(SpinorField& psi, SpinorField& work) const {
  const double step = width_ * width_ / (4 * steps_);
  SpinorField *from = &psi, *to = &work;
  for (int n = 0; n < steps_; ++n) {
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Arguments a = arguments_for(psi.domain(), psi.lanes(), psi.rhs());
      a.parity = int(parity);
      a.out = to->operand(parity);
      a.x = from->operand(parity);
      a.in = from->operand(opposite(parity));
      a.links = links_->operand();
      a.a.re = 1 - 6 * step;  // Laplace = hops - 6
      a.b.re = step;
      a.hops = hops_of(psi.domain().lattice(), {1, 1, 1, 1}, {1, 1, 1, 1});
      apply_hopping(psi.domain(), *kernel_, a, *links_);
    }
    std::swap(from, to);
  }
  if (from != &psi) psi.copy_from(*from);
}

}  // namespace quarksmith
