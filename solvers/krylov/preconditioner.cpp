#include "solvers/krylov/preconditioner.hpp"

namespace quarksmith {
namespace {

/// The steps have the preconditioner that they are given, or none.
MethodParameters inside(MethodParameters p, Preconditioner* k) {
  p.preconditioner.reset();
  p.given = k;
  return p;
}

}  // namespace

FixedSteps::FixedSteps(const LinearOperator& a, const InnerMethod& inner, const MethodParameters& parameters,
                       const PrecisionInfo& outer, int rhs, std::unique_ptr<Preconditioner> k)
    : a_(&a),
      steps_(inner.steps),
      k_(std::move(k)),
      scalars_(a.domain()->device_pointer(), rhs, a.components()),
      recurrence_(make_recurrence(inner.method, inside(parameters, k_.get()), a, a, scalars_, rhs)),
      begin_(a.domain()->device_pointer(), Scalars::bytes_per_rhs * rhs),
      convert_(a, a.precision(), outer, rhs),
      take_(a, computed_in(a.precision()), outer, rhs) {
  if (&outer == &a.precision()) round_.emplace(scalars_, outer, "round_correction");
  if (recurrence_->normal()) residual_.emplace(a.field(rhs));
  for (int n = 0; n < rhs; ++n) {
    scalars_.set(n, "active", 1);
    scalars_.set(n, "limit", steps_);
    for (const char* name : {"target", "fall", "iterations", "epsilon", "root"}) scalars_.set(n, name, 0);
  }
  recurrence_->prepare(0, rhs);
  scalars_.upload(0, rhs);
  scalars_.device().copy(begin_.data(), scalars_.data(), begin_.bytes());
}

void FixedSteps::apply(SpinorField& out, const SpinorField& in, int width) {
  scalars_.device().copy(scalars_.data(), begin_.data(), Scalars::bytes_per_rhs * width);
  SpinorField fresh = recurrence_->fresh().columns(0, width);
  if (residual_) {
    SpinorField r = residual_->columns(0, width);
    convert_(in, r);
    a_->apply(fresh, r, Dagger::yes);
  } else {
    convert_(in, fresh);
  }
  recurrence_->start(0, width);
  for (int n = 0; n < steps_; ++n) recurrence_->iterate(width, n % recurrence_->phases());
  recurrence_->complete(0, width);
  const SpinorField y = recurrence_->correction().columns(0, width);
  if (round_) return round_->for_all({.x = &out, .v = &y});
  take_(y, out);
}

}  // namespace quarksmith
