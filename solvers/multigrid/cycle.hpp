/// \file
/// The parts of a cycle of multigrid: each is an approximate inverse and takes others.
#pragma once

#include "solvers/krylov/blas.hpp"
#include "solvers/krylov/preconditioner.hpp"
#include "solvers/multigrid/even_odd_system.hpp"
#include "solvers/multigrid/transfer.hpp"

namespace quarksmith {

/// When a solve inside a cycle ends.
struct InnerLimits {
  int directions = 16, steps = 100;
  double tolerance = 0.1;  ///< relative residual; 0: after all steps
};

/// GCR to a relative residual, with a preconditioner or none. The host looks at the residuals after each step.
class InnerSolve final : public Preconditioner {
 public:
  /// \param a outlives this.
  InnerSolve(const LinearOperator& a, const InnerLimits& limits, int rhs, std::unique_ptr<Preconditioner> k = nullptr);
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override { return limits_.steps * recurrence_->applications(); }

  /// Relative residual of the first right-hand side after each step of the last application, 1 before them.
  const std::vector<double>& history() const { return history_; }

 private:
  void look(int width);

  const LinearOperator* a_;
  InnerLimits limits_;
  Scalars scalars_;
  std::unique_ptr<Recurrence> recurrence_;
  std::vector<double> history_, snapshot_;
};

/// M^-1 by an approximate inverse of the even-odd form.
class EvenOddSolve final : public Preconditioner {
 public:
  /// \param system outlives this.
  EvenOddSolve(const EvenOddSystem& system, std::unique_ptr<Preconditioner> reduced, int rhs)
      : system_(&system), reduced_(std::move(reduced)), b_(system.reduced().field(rhs)), x_(b_.like()) {}
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override { return reduced_->applications(); }

 private:
  const EvenOddSystem* system_;
  std::unique_ptr<Preconditioner> reduced_;
  SpinorField b_, x_;
};

/// x = P C^-1 P^+ b; x += S (b - M x): a correction of the coarse level, then the smoother S.
class Cycle final : public Preconditioner {
 public:
  /// \param system,transfer outlive this. \param coarse approximate inverse on the coarse level.
  Cycle(const EvenOddSystem& system, const Transfer& transfer, std::unique_ptr<Preconditioner> coarse,
        std::unique_ptr<Preconditioner> smoother, int rhs);
  void apply(SpinorField& out, const SpinorField& in, int width) override;
  int applications() const override { return 1 + smoother_->applications(); }

 private:
  const EvenOddSystem* system_;
  const Transfer* transfer_;
  std::unique_ptr<Preconditioner> coarse_, smoother_;
  SpinorField coarse_b_, coarse_x_, r_, x_;
  Blas blas_;
};

}  // namespace quarksmith
