/// \file
/// Approximate inverses that flexible methods apply to their residuals.
#pragma once

#include "solvers/krylov/converter.hpp"
#include "solvers/krylov/method.hpp"

namespace quarksmith {

/// out ~ A^-1 in, not necessarily linear in `in`.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// Enqueues one application to right-hand sides 0 ... width - 1 of fields of the outer method. Recorded: it starts
  /// the same work each time and reads nothing back.
  virtual void apply(SpinorField& out, const SpinorField& in, int width) = 0;
  /// Applications of A or A^+ in one application of the preconditioner.
  virtual int applications() const = 0;
};

/// A fixed number of steps of a recurrence from zero, in a precision of its own.
///
/// The recurrence has its own scalars: a right-hand side that stops in it, because its residual or a denominator has
/// vanished, keeps its iterate, and starts again in the next application.
class FixedSteps final : public Preconditioner {
 public:
  /// \param a in the precision of the steps; outlives this.
  /// \param outer precision of the fields that `apply` is given.
  /// \param k preconditioner of the steps, where the method takes one.
  FixedSteps(const LinearOperator& a, const InnerMethod& inner, const MethodParameters& parameters,
             const PrecisionInfo& outer, int rhs, std::unique_ptr<Preconditioner> k = nullptr);
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override { return steps_ * recurrence_->applications() + (residual_ ? 1 : 0); }

 private:
  const LinearOperator* a_;
  int steps_;
  std::unique_ptr<Preconditioner> k_;
  Scalars scalars_;
  std::unique_ptr<Recurrence> recurrence_;
  Memory begin_;                         ///< the scalars with which every application begins
  Converter convert_, take_;             ///< into the precision of the steps; corrections out of it
  std::optional<Step> round_;            ///< corrections, if the steps have the precision of the fields
  std::optional<SpinorField> residual_;  ///< before A^+, for normal equations
};

/// GCR. \param a,scalars must outlive it. \param directions of a cycle, 1 ... MethodParameters::most_directions.
/// \param preconditioner may be null.
std::unique_ptr<Recurrence> make_gcr(const LinearOperator& a, Scalars& scalars, int rhs, int directions,
                                     std::unique_ptr<Preconditioner> preconditioner);

}  // namespace quarksmith
