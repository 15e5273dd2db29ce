// Conjugate gradients on the normal equations.
#include "solvers/krylov/cg.hpp"

namespace quarksmith {

ConjugateGradients::ConjugateGradients(const LinearOperator& a, Scalars& scalars, int rhs, CgForm form)
    : Recurrence(a, scalars, rhs),
      form_(form),
      r_(a.field(rhs)),
      p_(a.field(rhs)),
      q_(a.field(rhs)),
      w_(a.field(rhs)),
      measure_(scalars, a.precision(), "measure"),
      direction_(scalars, a.precision(), "cg_direction"),
      curvature_(scalars, a.precision(), form == CgForm::normal ? "cg_curvature" : "hermitian_curvature"),
      residual_(scalars, a.precision(), "cg_residual"),
      advance_(scalars, a.precision(), "add_correction"),
      replace_(scalars, a.precision(), "cg_replace"),
      reproject_(scalars, a.precision(), "cg_reproject") {}

void ConjugateGradients::iterate(int width, int /*phase*/) {
  SpinorField y = y_.columns(0, width), r = r_.columns(0, width), p = p_.columns(0, width), q = q_.columns(0, width),
              w = w_.columns(0, width);
  direction_({.x = &p, .z = &r, .v = &y});  // y += alpha p;  p = r + beta p
  if (form_ == CgForm::normal) {
    a_->apply(w, p, Dagger::no);
    curvature_({.x = &w});  // alpha = (r, r) / (p, A^+ A p)
    a_->apply(q, w, Dagger::yes);
  } else {
    a_->apply(q, p, Dagger::no);
    curvature_({.x = &p, .y = &q});  // q = (A + sigma) p;  alpha = (r, r) / (p, q)
  }
  residual_({.x = &q, .y = &r});  // r' = r - alpha A^+ A p;  beta = (r', r') / (r, r)
}

void ConjugateGradients::prepare(int first, int count) { set(first, count, {"alpha", "beta", "pp", "scale"}, 0); }

void ConjugateGradients::start(int first, int count) {
  SpinorField y = y_.columns(first, count), r = r_.columns(first, count), p = p_.columns(first, count);
  y.fill(0);
  p.fill(0);
  r.copy_from(w_.columns(first, count));
  measure_.for_all({.x = &r}, first);
}

void ConjugateGradients::replace(int first, int count) {
  SpinorField y = y_.columns(first, count), r = r_.columns(first, count), p = p_.columns(first, count),
              q = q_.columns(first, count), w = w_.columns(first, count);
  replace_.for_all({.x = &w, .y = &r, .z = &p, .w = &q}, first);  // r_{k-1} = r_k + alpha q
  reproject_.for_all({.x = &r, .y = &p}, first);                  // p = p - (r, p) / (r, r) r
  y.fill(0);
}

void ConjugateGradients::complete(int first, int count) {
  SpinorField y = y_.columns(first, count), p = p_.columns(first, count);
  advance_.for_all({.x = &p, .v = &y}, first);  // y += alpha p of the last iteration
}

namespace methods {
extern constinit const MethodKind cg = {.names = {"cg", "cgnr"},
                                        .source = "Hestenes and Stiefel 1952; Saad, alg. 8.4",
                                        .storage = "5",
                                        .applications = "2",
                                        .traffic = "9",
                                        .use = "what always converges; least normal residual; domain wall, staggered",
                                        .fields = field_count<5>,
                                        .make = make_cg<CgForm::normal>};
}

}  // namespace quarksmith
