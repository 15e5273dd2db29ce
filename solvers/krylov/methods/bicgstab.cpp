// Stabilised bi-conjugate gradients.
#include "solvers/krylov/method.hpp"

namespace quarksmith {
namespace {

/// A y = r.
///
/// H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631. The shadow residual is the first residual; a replaced
/// residual enters rho and beta as one of the recurrence would (G. L. G. Sleijpen and H. A. van der Vorst, Computing 56
/// (1996) 141). All that the end of an iteration decides follows from the products of s, t = A s and the shadow: r = s
/// - omega t, so that |r|^2 = |s|^2 - |(t, s)|^2 / |t|^2 and (shadow, r) = (shadow, s) - omega (shadow, t). y, r and p
/// therefore change together, at the beginning of the next iteration; what has not changed yet `complete` adds to y. An
/// iteration applies A twice and reads or writes seventeen fields besides; two of them less each time that the last
/// kernel of A makes the products (ProductSums).
class BiCGstab final : public Recurrence {
 public:
  /// \param a outlives this, as the scalars do.
  BiCGstab(const LinearOperator& a, Scalars& scalars, int rhs);
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override;
  void complete(int first, int count) override;
  bool idles() const override { return rows_.made(); }
  SpinorField& fresh() override { return r_; }
  std::vector<SpinorField*> state() override { return {&y_, &r_, &shadow_, &p_, &v_, &t_}; }

 private:
  SpinorField r_, shadow_, p_, v_, t_;
  SumRows rows_;
  Step step_, alpha_, half_step_, omega_, complete_, replace_;
};

BiCGstab::BiCGstab(const LinearOperator& a, Scalars& scalars, int rhs)
    : Recurrence(a, scalars, rhs),
      r_(a.field(rhs)),
      shadow_(a.field(rhs)),
      p_(a.field(rhs)),
      v_(a.field(rhs)),
      t_(a.field(rhs)),
      rows_(a, scalars, rhs),
      step_(scalars, a.precision(), "bicgstab_step"),
      alpha_(scalars, a.precision(), "bicgstab_alpha"),
      half_step_(scalars, a.precision(), "bicgstab_half_step"),
      omega_(scalars, a.precision(), "bicgstab_omega"),
      complete_(scalars, a.precision(), "bicgstab_complete"),
      replace_(scalars, a.precision(), "bicgstab_replace") {}

void BiCGstab::iterate(int width, int /*phase*/) {
  SpinorField y = y_.columns(0, width), r = r_.columns(0, width), shadow = shadow_.columns(0, width),
              p = p_.columns(0, width), v = v_.columns(0, width), t = t_.columns(0, width);
  // Of the iteration before: y += alpha p + omega s;  r = s - omega t;  p = r + beta (p - omega v)
  step_({.x = &p, .y = &r, .z = &t, .w = &v, .v = &y});
  // alpha = rho / (shadow, v)
  rows_.apply(v, p, {ProductSums::Kind::shadow, &shadow}, alpha_, {.x = &shadow, .y = &v, .z = &p});
  half_step_({.x = &v, .y = &r});  // s = r - alpha v, kept in r
  // omega = (t, s) / (t, t);  rho' = (shadow, s - omega t);  beta = rho' / rho alpha / omega
  rows_.apply(t, r, {ProductSums::Kind::all, &shadow}, omega_, {.x = &t, .y = &r, .u = &shadow});
}

void BiCGstab::prepare(int first, int count) {
  set(first, count, {"alpha", "beta", "half", "last", "scale"}, 0);
  set(first, count, {"rho", "rho_old", "omega"}, 1);  // so that beta becomes 0
}

void BiCGstab::start(int first, int count) {
  for (SpinorField* f : {&p_, &v_, &t_}) {
    SpinorField columns = f->columns(first, count);
    columns.fill(0);
  }
  shadow_.columns(first, count).copy_from(r_.columns(first, count));
  replace(first, count);
}

void BiCGstab::replace(int first, int count) {
  SpinorField y = y_.columns(first, count), r = r_.columns(first, count), shadow = shadow_.columns(first, count);
  replace_.for_all({.x = &r, .y = &shadow}, first);
  y.fill(0);
}

void BiCGstab::complete(int first, int count) {
  SpinorField y = y_.columns(first, count), p = p_.columns(first, count), r = r_.columns(first, count);
  complete_.for_all({.x = &p, .y = &r, .v = &y}, first);  // y += alpha p + omega s
}

}  // namespace

namespace methods {
extern constinit const MethodKind bicgstab = {.names = {"bicgstab"},
                                              .source = "van der Vorst 1992",
                                              .storage = "6",
                                              .applications = "2",
                                              .traffic = "17",
                                              .use = "fastest on most configurations",
                                              .fields = field_count<6>,
                                              .make = make_method<BiCGstab>};
}

}  // namespace quarksmith
