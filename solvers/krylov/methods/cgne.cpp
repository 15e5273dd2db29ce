// Conjugate gradients that minimise the error.
#include "solvers/krylov/method.hpp"

namespace quarksmith {
namespace {

/// A A^+ u = r, y = A^+ u.
///
/// E. J. Craig, J. Math. Phys. 34 (1955) 64, in the form CGNE (Y. Saad, Iterative Methods for Sparse Linear Systems,
/// 2nd ed., algorithm 8.5): it minimises |y - A^-1 r|, and its residual is that of A y = r, which need not fall in
/// every iteration. When the residual is replaced the direction is kept, and the next one is made orthogonal to it:
/// beta = -Re (r', A p) / (p, p). An iteration applies A and A^+ once and reads or writes eight fields besides.
class CraigsMethod final : public Recurrence {
 public:
  /// \param a outlives this, as the scalars do.
  CraigsMethod(const LinearOperator& a, Scalars& scalars, int rhs);
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  void complete(int first, int count) override;
  SpinorField& fresh() override { return r_; }
  std::vector<SpinorField*> state() override { return {&y_, &r_, &p_, &q_}; }

 private:
  SpinorField r_, p_, q_, w_;
  Step measure_, direction_, residual_, advance_, replace_;
};

CraigsMethod::CraigsMethod(const LinearOperator& a, Scalars& scalars, int rhs)
    : Recurrence(a, scalars, rhs),
      r_(a.field(rhs)),
      p_(a.field(rhs)),
      q_(a.field(rhs)),
      w_(a.field(rhs)),
      measure_(scalars, a.precision(), "measure"),
      direction_(scalars, a.precision(), "cgne_direction"),
      residual_(scalars, a.precision(), "cg_residual"),
      advance_(scalars, a.precision(), "add_correction"),
      replace_(scalars, a.precision(), "cgne_replace") {}

void CraigsMethod::iterate(int width, int /*phase*/) {
  SpinorField y = y_.columns(0, width), r = r_.columns(0, width), p = p_.columns(0, width), q = q_.columns(0, width),
              w = w_.columns(0, width);
  a_->apply(w, r, Dagger::yes);
  direction_({.x = &p, .z = &w, .v = &y});  // y += alpha p;  p = A^+ r + beta p;  alpha = (r, r) / (p, p)
  a_->apply(q, p, Dagger::no);
  residual_({.x = &q, .y = &r});  // r' = r - alpha A p;  beta = (r', r') / (r, r)
}

void CraigsMethod::prepare(int first, int count) { set(first, count, {"alpha", "beta", "pp", "scale"}, 0); }

void CraigsMethod::start(int first, int count) {
  SpinorField y = y_.columns(first, count), r = r_.columns(first, count), p = p_.columns(first, count);
  y.fill(0);
  p.fill(0);
  measure_.for_all({.x = &r}, first);
}

void CraigsMethod::replace(int first, int count) {
  SpinorField y = y_.columns(first, count), r = r_.columns(first, count), q = q_.columns(first, count);
  replace_.for_all({.x = &r, .y = &q}, first);  // beta = -Re (r', A p) / (p, p)
  y.fill(0);
}

void CraigsMethod::complete(int first, int count) {
  SpinorField y = y_.columns(first, count), p = p_.columns(first, count);
  advance_.for_all({.x = &p, .v = &y}, first);  // y += alpha p of the last iteration
}

}  // namespace

namespace methods {
extern constinit const MethodKind cgne = {.names = {"cgne"},
                                          .source = "Craig 1955; Saad, alg. 8.5",
                                          .storage = "5",
                                          .applications = "2",
                                          .traffic = "8",
                                          .use = "the same; least error, its residual is that of the system",
                                          .fields = field_count<5>,
                                          .make = make_method<CraigsMethod>};
}

}  // namespace quarksmith
