#include "solvers/multigrid/cycle.hpp"

#include <algorithm>
#include <cmath>

namespace quarksmith {

InnerSolve::InnerSolve(const LinearOperator& a, const InnerLimits& limits, int rhs, std::unique_ptr<Preconditioner> k)
    : a_(&a),
      limits_(limits),
      scalars_(a.domain()->device_pointer(), rhs, a.components()),
      recurrence_(make_gcr(a, scalars_, rhs, limits.directions, std::move(k))),
      snapshot_(static_cast<std::size_t>(rhs) * Scalars::stride) {
  for (const char* name : {"rr", "target", "fall", "most", "iterations", "limit", "epsilon", "root"})
    scalars_.slot(name);
}

/// Takes over the scalars of the device.
void InnerSolve::look(int width) {
  scalars_.device().synchronize();
  scalars_.device().download(snapshot_.data(), scalars_.data(), Scalars::bytes_per_rhs * width);
  scalars_.assign(snapshot_.data(), width);
}

void InnerSolve::apply(SpinorField& out, const SpinorField& in, int width) {
  SpinorField fresh = recurrence_->fresh().columns(0, width);
  fresh.copy_from(in.columns(0, width));
  for (int n = 0; n < width; ++n) {
    scalars_.set(n, "active", 1);
    scalars_.set(n, "limit", limits_.steps);
    for (const char* name : {"status", "target", "fall", "iterations", "epsilon", "root"}) scalars_.set(n, name, 0);
  }
  recurrence_->prepare(0, width);
  scalars_.upload(0, width);
  recurrence_->start(0, width);
  look(width);
  std::vector<double> before;
  for (int n = 0; n < width; ++n) {
    before.push_back(scalars_.get(n, "rr").real());
    scalars_.set(n, "target", limits_.tolerance * limits_.tolerance * before.back());
    if (!(before.back() > 0)) scalars_.set(n, "active", 0);
  }
  scalars_.upload(0, width);
  const auto active = [&] {
    for (int n = 0; n < width; ++n)
      if (scalars_.get(n, "active").real() != 0) return true;
    return false;
  };
  history_ = {1};
  for (int step = 0; step < limits_.steps && active(); ++step) {
    recurrence_->iterate(width, step % recurrence_->phases());
    look(width);
    history_.push_back(before[0] > 0 ? std::sqrt(scalars_.get(0, "rr").real() / before[0]) : 0);
  }
  recurrence_->complete(0, width);
  SpinorField result = out.columns(0, width);
  result.copy_from(recurrence_->correction().columns(0, width));
}

void EvenOddSolve::apply(SpinorField& out, const SpinorField& in, int width) {
  SpinorField b = b_.columns(0, width), x = x_.columns(0, width), full = out.columns(0, width);
  const SpinorField full_b = in.columns(0, width);
  system_->prepare(b, full_b);
  reduced_->apply(x, b, width);
  system_->reconstruct(full, x, full_b);
}

Cycle::Cycle(const EvenOddSystem& system, const Transfer& transfer, std::unique_ptr<Preconditioner> coarse,
             std::unique_ptr<Preconditioner> smoother, int rhs)
    : system_(&system),
      transfer_(&transfer),
      coarse_(std::move(coarse)),
      smoother_(std::move(smoother)),
      coarse_b_(transfer.coarse_field(rhs)),
      coarse_x_(coarse_b_.like()),
      r_(transfer.fine_field(rhs)),
      x_(r_.like()),
      blas_(r_) {}

void Cycle::apply(SpinorField& out, const SpinorField& in, int width) {
  SpinorField b = coarse_b_.columns(0, width), c = coarse_x_.columns(0, width), r = r_.columns(0, width),
              x = x_.columns(0, width), sum = out.columns(0, width);
  const SpinorField given = in.columns(0, width);
  transfer_->restrict_to(b, given);
  coarse_->apply(c, b, width);
  transfer_->prolong(x, c);
  system_->full().apply(r, x, Dagger::no);
  blas_.axpby(1, given, -1, r);
  smoother_->apply(sum, r, width);
  blas_.axpby(1, x, 1, sum);
}

}  // namespace quarksmith
