// Minimal residual iteration.
#include "solvers/krylov/method.hpp"

namespace quarksmith {
namespace {

/// A y = r for A whose Hermitian part is positive definite.
///
/// Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 5.3, over-relaxed: y += omega alpha r,
/// alpha = (A r, r) / (A r, A r). It keeps nothing of earlier iterations, so that a replaced residual needs no care. A
/// few steps of it are a cheap preconditioner. An iteration applies A once and reads or writes seven fields besides.
class MinimalResidual final : public Recurrence {
 public:
  /// \param omega between 0 and 2
  MinimalResidual(const LinearOperator& a, Scalars& scalars, int rhs, double omega);
  void iterate(int width, int phase) override;
  void prepare(int first, int count) override;
  void start(int first, int count) override;
  void replace(int first, int count) override { start(first, count); }
  SpinorField& fresh() override { return r_; }
  std::vector<SpinorField*> state() override { return {&y_, &r_}; }
  int applications() const override { return 1; }

 private:
  double omega_;
  SpinorField r_, q_;
  Step measure_, alpha_, step_;
};

MinimalResidual::MinimalResidual(const LinearOperator& a, Scalars& scalars, int rhs, double omega)
    : Recurrence(a, scalars, rhs),
      omega_(omega),
      r_(a.field(rhs)),
      q_(a.field(rhs)),
      measure_(scalars, a.precision(), "measure"),
      alpha_(scalars, a.precision(), "mr_alpha"),
      step_(scalars, a.precision(), "mr_step") {}

void MinimalResidual::iterate(int width, int /*phase*/) {
  SpinorField y = y_.columns(0, width), r = r_.columns(0, width), q = q_.columns(0, width);
  a_->apply(q, r, Dagger::no);
  alpha_({.x = &q, .y = &r});                   // alpha = omega (A r, r) / (A r, A r)
  step_({.x = &q, .y = &r, .z = &r, .v = &y});  // y += alpha r;  r -= alpha A r
}

void MinimalResidual::prepare(int first, int count) {
  set(first, count, {"omega"}, omega_);
  set(first, count, {"scale"}, 0);
}

void MinimalResidual::start(int first, int count) {
  SpinorField y = y_.columns(first, count), r = r_.columns(first, count);
  y.fill(0);
  measure_.for_all({.x = &r}, first);
}

}  // namespace

namespace methods {
extern constinit const MethodKind mr = {.names = {"mr"},
                                        .source = "Saad, alg. 5.3",
                                        .storage = "3",
                                        .applications = "1",
                                        .traffic = "7",
                                        .use = "heavy masses; a preconditioner or smoother",
                                        .numbers = {{{.option = "--omega",
                                                      .letter = "W",
                                                      .help = "over-relaxation W of mr",
                                                      .real = &MethodParameters::omega,
                                                      .lower = 0,
                                                      .upper = 2}}},
                                        .fields = field_count<3>,
                                        .make = make_method<MinimalResidual, &MethodParameters::omega>};
}

}  // namespace quarksmith
