/// \file
/// Interface of Krylov methods for KrylovBatch (solvers/krylov/batch.hpp).
#pragma once

#include "solvers/krylov/linear_operator.hpp"
#include "solvers/krylov/scalars.hpp"

namespace quarksmith {

/// The recurrence of a Krylov method for corrections y to several solutions, A y = r, in the precision of its operator.
///
/// Every right-hand side has its own scalars and stops independently: a scalar program sets `active` to 0 when
/// |residual|^2 (`rr`) has reached `target`, has fallen below `fall` times its largest value since the last
/// replacement, has drifted from the true residual (`epsilon`, `root`), or after `limit` iterations; updates then skip
/// it. The driver reads `rr`, `active`, `status` and `iterations`, and sets the others. A new method is one class of
/// this kind: docs/howto-method.md.
class Recurrence {
 public:
  virtual ~Recurrence() = default;

  /// True if it works on the residual of the normal equations, A^+ (b - A x).
  virtual bool normal() const { return false; }
  /// True if the error falls in each iteration, whatever the residual does: a restart because of stagnation does harm.
  virtual bool steady() const { return false; }
  /// True if an iteration takes next to no time once all right-hand sides have stopped.
  virtual bool idles() const { return false; }
  /// Enqueues one iteration on right-hand sides 0 ... width - 1. It is recorded, so that each phase must enqueue the
  /// same kernels each time. \param phase 0 ... phases() - 1, in turn.
  virtual void iterate(int width, int phase) = 0;
  /// Period of the kernels: iteration n starts the same ones as n + phases().
  virtual int phases() const { return 1; }
  /// Sets the initial scalars for `start`, in the host's copy.
  virtual void prepare(int first, int count) = 0;
  /// Enqueues a restart with y = 0 from the residual in `fresh`.
  virtual void start(int first, int count) = 0;
  /// Enqueues the replacement of the residual by that in `fresh`; continues with y = 0.
  virtual void replace(int first, int count) = 0;
  /// Enqueues the completion of y: adds updates that were deferred to the next iteration.
  virtual void complete(int /*first*/, int /*count*/) {}

  /// The corrections y, in the precision in which kernels compute: if they were rounded to that of the operator, A^+ A
  /// y would deviate from the residual by this rounding times the square of the condition number.
  SpinorField& correction() { return y_; }
  /// Field into which the driver writes recomputed residuals.
  virtual SpinorField& fresh() = 0;
  /// All fields whose columns move when a batch is compacted.
  virtual std::vector<SpinorField*> state() = 0;
  /// Applications of A or A^+ in an iteration.
  virtual int applications() const { return 2; }

 protected:
  /// \param a,scalars outlive this.
  Recurrence(const LinearOperator& a, Scalars& scalars, int rhs)
      : a_(&a), scalars_(&scalars), y_(a.field(rhs, computed_in(a.precision()))) {}
  /// Sets scalars of right-hand sides to a value, in the host's copy.
  void set(int first, int count, std::initializer_list<const char*> names, double value) {
    for (int n = first; n < first + count; ++n)
      for (const char* name : names) scalars_->set(n, name, value);
  }

  const LinearOperator* a_;
  Scalars* scalars_;
  SpinorField y_;
};

}  // namespace quarksmith
