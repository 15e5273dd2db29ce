/// \file
/// A Krylov method as the driver of solvers/krylov/batch.hpp sees it.
#pragma once

#include "solvers/krylov/linear_operator.hpp"
#include "solvers/krylov/scalars.hpp"

namespace quarksmith {

/// The recurrence of a Krylov method for corrections y to several solutions, A y = r, in the precision of its operator.
///
/// Every right-hand side has its own scalars and stops independently: a scalar program sets `active` to 0 when
/// |residual|^2 (`rr`) reached `target`, fell below `fall` times its largest value since the last replacement, drifted
/// from the true residual (`epsilon`, `root`) or met `limit` iterations; updates then pass over it. The driver reads
/// `rr`, `active`, `status` and `iterations`, and sets the others. A new method is one class of this kind:
/// docs/howto-method.md.
class Recurrence {
 public:
  virtual ~Recurrence() = default;

  /// True if it works on the residual of the normal equations, A^+ (b - A x).
  virtual bool normal() const { return false; }
  /// True if the error falls in each iteration, whatever the residual does: a restart for want of progress does harm.
  virtual bool steady() const { return false; }
  /// True if an iteration takes next to no time once all right-hand sides have stopped.
  virtual bool idles() const { return false; }
  /// Enqueues one iteration on right-hand sides 0 ... width - 1. Recorded: it starts the same kernels each time, for
  /// each phase. \param phase 0 ... phases() - 1, in turn.
  virtual void iterate(int width, int phase) = 0;
  /// Period of the kernels: iteration n starts the same ones as n + phases().
  virtual int phases() const { return 1; }
  /// Sets the scalars with which `start` begins, in the host's copy.
  virtual void prepare(int first, int count) = 0;
  /// Enqueues: begins anew with y = 0 from the residual in `fresh`.
  virtual void start(int first, int count) = 0;
  /// Enqueues: continues with y = 0 and the residual in `fresh` in place of that of the recurrence.
  virtual void replace(int first, int count) = 0;
  /// Enqueues: completes y: adds what an iteration has left to the next one.
  virtual void complete(int /*first*/, int /*count*/) {}

  /// The corrections y, in the plain numbers that kernels compute in: A^+ A y of a sum that is rounded to the precision
  /// of the operator misses the residual by that rounding times the square of the condition number.
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
  /// Gives scalars of right-hand sides a value, in the host's copy.
  void set(int first, int count, std::initializer_list<const char*> names, double value) {
    for (int n = first; n < first + count; ++n)
      for (const char* name : names) scalars_->set(n, name, value);
  }

  const LinearOperator* a_;
  Scalars* scalars_;
  SpinorField y_;
};

}  // namespace quarksmith
