#include "solvers/krylov/cgne.hpp"

namespace quarksmith {

CraigsMethod::CraigsMethod(const LinearOperator& a, Scalars& scalars, int rhs)
    : Recurrence(a, scalars, rhs),
      r_(y_.like()),
      p_(y_.like()),
      q_(y_.like()),
      w_(y_.like()),
      measure_(scalars, a.precision(), "measure"),
      direction_(scalars, a.precision(), "cgne_direction"),
      residual_(scalars, a.precision(), "cg_residual"),
      advance_(scalars, a.precision(), "advance"),
      replace_(scalars, a.precision(), "cgne_replace") {}

void CraigsMethod::iterate(int width, int /*phase*/) {
  SpinorField y = y_.slice(0, width), r = r_.slice(0, width), p = p_.slice(0, width), q = q_.slice(0, width),
              w = w_.slice(0, width);
  a_->apply(w, r, Dagger::yes);
  direction_({.x = &p, .y = &y, .z = &w});  // y += alpha p;  p = A^+ r + beta p;  alpha = (r, r) / (p, p)
  a_->apply(q, p, Dagger::no);
  residual_({.x = &q, .y = &r});  // r' = r - alpha A p;  beta = (r', r') / (r, r)
}

void CraigsMethod::prepare(int first, int count) { set(first, count, {"alpha", "beta", "pp", "scale"}, 0); }

void CraigsMethod::start(int first, int count) {
  SpinorField y = y_.slice(first, count), r = r_.slice(first, count), p = p_.slice(first, count);
  y.fill(0);
  p.fill(0);
  measure_.for_all({.x = &r}, first);
}

void CraigsMethod::replace(int first, int count) {
  SpinorField y = y_.slice(first, count), r = r_.slice(first, count), q = q_.slice(first, count);
  replace_.for_all({.x = &r, .y = &q}, first);  // beta = -Re (r', A p) / (p, p)
  y.fill(0);
}

void CraigsMethod::complete(int first, int count) {
  SpinorField y = y_.slice(first, count), p = p_.slice(first, count);
  advance_.for_all({.x = &p, .y = &y}, first);  // y += alpha p of the last iteration
}

}  // namespace quarksmith
