/// \file
/// Actions whose formula is of no other shape: M and M^+ on all sites from one kernel each, which evaluates the formula
/// as it stands (docs/howto-operator.md).
#pragma once

#include <memory>

#include "runtime/fields/expression.hpp"
#include "solvers/actions/action.hpp"
#include "solvers/actions/action_values.hpp"
#include "solvers/actions/hopping_term.hpp"

namespace quarksmith {

/// M of a formula on all sites, in one precision.
class FormulaMatrix final : public LinearOperator {
 public:
  /// \throws MissingKernel the build lacks the kernels of M or M^+.
  FormulaMatrix(std::shared_ptr<const LinkField> links, const PrecisionInfo& precision, const BasisInfo& basis,
                ActionValues values, const BoundaryPhases& boundary);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return links_->domain_pointer(); }
  const PrecisionInfo& precision() const override { return *precision_; }
  int spins() const override { return values_.info().spins; }
  double flops() const override;
  const ActionValues& values() const { return values_; }

 private:
  std::shared_ptr<const LinkField> links_;
  const PrecisionInfo* precision_;
  const BasisInfo* basis_;
  ActionValues values_;
  ExpressionSettings settings_;
  const Kernel* kernels_[2];  // of M, M^+
};

/// The operators of a formula in one precision; there is no even-odd form.
class FormulaDirac final : public DiracOperator {
 public:
  explicit FormulaDirac(FormulaMatrix matrix) : matrix_(std::move(matrix)) {}
  const FormulaMatrix& matrix() const override { return matrix_; }
  const ActionValues& values() const override { return matrix_.values(); }
  /// \throws UsageError always.
  std::unique_ptr<ReducedOperator> reduced(Reduction form, int rhs) const override;

 private:
  FormulaMatrix matrix_;
};

/// An action of the table without a hopping term.
class FormulaAction final : public Action {
 public:
  /// \throws UsageError the action is of hopping shape: StatedAction is faster.
  FormulaAction(ActionValues values, const BoundaryPhases& boundary);
  static bool serves(const ActionInfo& info) { return info.hopping.empty() && info.chain.empty(); }
  std::string name() const override;
  int spins() const override { return values_.info().spins; }
  bool has_even_odd() const override { return false; }
  std::unique_ptr<DiracOperator> make(const LinkStore& links, const PrecisionInfo& precision) const override;

 private:
  ActionValues values_;
  BoundaryPhases boundary_;
};

}  // namespace quarksmith
