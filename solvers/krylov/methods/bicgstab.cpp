// Stabilised bi-conjugate gradients.
#include "solvers/krylov/method.hpp"

namespace quarksmith {
namespace {

/// A y = r.
///
/// H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631. The shadow residual is the first residual; a replaced
/// residual enters rho and beta as one of the recurrence would (G. L. G. Sleijpen and H. A. van der Vorst, Computing 56
/// (1996) 141). An iteration applies A twice and reads or writes eighteen fields besides.
class BiCGstab final : public Recurrence {
 public:
  /// \param a outlives this, as the scalars do.
  BiCGstab(const LinearOperator& a, Scalars& scalars, int rhs);
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  void complete(int first, int count) override;
  SpinorField& fresh() override { return r_; }
  std::vector<SpinorField*> state() override { return {&y_, &r_, &shadow_, &p_, &v_}; }

 private:
  SpinorField r_, shadow_, p_, v_, t_;
  Step direction_, alpha_, half_step_, omega_, step_, advance_, replace_;
};

BiCGstab::BiCGstab(const LinearOperator& a, Scalars& scalars, int rhs)
    : Recurrence(a, scalars, rhs),
      r_(a.field(rhs)),
      shadow_(a.field(rhs)),
      p_(a.field(rhs)),
      v_(a.field(rhs)),
      t_(a.field(rhs)),
      direction_(scalars, a.precision(), "bicgstab_direction"),
      alpha_(scalars, a.precision(), "bicgstab_alpha"),
      half_step_(scalars, a.precision(), "bicgstab_half_step"),
      omega_(scalars, a.precision(), "bicgstab_omega"),
      step_(scalars, a.precision(), "bicgstab_step"),
      advance_(scalars, a.precision(), "bicgstab_advance"),
      replace_(scalars, a.precision(), "bicgstab_replace") {}

void BiCGstab::iterate(int width, int /*phase*/) {
  SpinorField y = y_.columns(0, width), r = r_.columns(0, width), shadow = shadow_.columns(0, width),
              p = p_.columns(0, width), v = v_.columns(0, width), t = t_.columns(0, width);
  direction_({.x = &r, .y = &p, .z = &v});  // p = r + beta (p - omega v)
  a_->apply(v, p, Dagger::no);
  alpha_({.x = &shadow, .y = &v});  // alpha = rho / (shadow, v)
  half_step_({.x = &v, .y = &r});   // s = r - alpha v, kept in r
  a_->apply(t, r, Dagger::no);
  omega_({.x = &t, .y = &r});  // omega = (t, s) / (t, t)
  // y += alpha p + omega s;  r = s - omega t;  rho' = (shadow, r);  beta = rho' / rho alpha / omega
  step_({.x = &p, .y = &r, .z = &t, .u = &shadow, .v = &y});
}

void BiCGstab::prepare(int first, int count) {
  set(first, count, {"alpha", "beta", "half", "scale"}, 0);
  set(first, count, {"rho", "rho_old", "omega"}, 1);  // so that beta becomes 0
}

void BiCGstab::start(int first, int count) {
  SpinorField y = y_.columns(first, count), p = p_.columns(first, count), v = v_.columns(first, count);
  y.fill(0);
  p.fill(0);
  v.fill(0);
  shadow_.columns(first, count).copy_from(r_.columns(first, count));
  replace(first, count);
}

void BiCGstab::replace(int first, int count) {
  SpinorField y = y_.columns(first, count), r = r_.columns(first, count), shadow = shadow_.columns(first, count);
  replace_.for_all({.x = &r, .y = &shadow}, first);
  y.fill(0);
}

void BiCGstab::complete(int first, int count) {
  SpinorField y = y_.columns(first, count), p = p_.columns(first, count);
  advance_.for_all({.x = &p, .v = &y}, first);  // y += alpha p of an iteration that ended at its half step
}

}  // namespace

namespace methods {
extern constinit const MethodKind bicgstab = {.names = {"bicgstab"},
                                              .source = "van der Vorst 1992",
                                              .storage = "6",
                                              .applications = "2",
                                              .traffic = "18",
                                              .use = "fastest on most configurations",
                                              .fields = field_count<6>,
                                              .make = make_method<BiCGstab>};
}

}  // namespace quarksmith
