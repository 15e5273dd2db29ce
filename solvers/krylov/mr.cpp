#include "solvers/krylov/mr.hpp"

namespace quarksmith {

MinimalResidual::MinimalResidual(const LinearOperator& a, Scalars& scalars, int rhs, double omega)
    : Recurrence(a, scalars, rhs),
      omega_(omega),
      r_(y_.like()),
      q_(y_.like()),
      measure_(scalars, a.precision(), "measure"),
      alpha_(scalars, a.precision(), "mr_alpha"),
      step_(scalars, a.precision(), "mr_step") {}

void MinimalResidual::iterate(int width, int /*phase*/) {
  SpinorField y = y_.slice(0, width), r = r_.slice(0, width), q = q_.slice(0, width);
  a_->apply(q, r, Dagger::no);
  alpha_({.x = &q, .y = &r});                   // alpha = omega (A r, r) / (A r, A r)
  step_({.x = &q, .y = &r, .z = &r, .w = &y});  // y += alpha r;  r -= alpha A r
}

void MinimalResidual::prepare(int first, int count) {
  set(first, count, {"omega"}, omega_);
  set(first, count, {"scale"}, 0);
}

void MinimalResidual::start(int first, int count) {
  SpinorField y = y_.slice(first, count), r = r_.slice(first, count);
  y.fill(0);
  measure_.for_all({.x = &r}, first);
}

}  // namespace quarksmith
