/// \file
/// The operators of a solve: an action in several precisions.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solvers/actions/action.hpp"
#include "solvers/actions/working_gauge.hpp"
#include "solvers/krylov/blas.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith {

/// An action in the precisions of a solve, with the stored links; and in double with the given links, if the stored
/// ones deviate from these by more than rounding.
class OperatorLevels {
 public:
  /// \throws UnknownName,UsageError a precision or storage of the settings is unknown, or does not fit.
  OperatorLevels(const Action& action, const WorkingGauge& gauge, const DomainPointer& domain,
                 const SolveSettings& settings);
  /// Makes the operators in all precisions of the settings, and releases the links.
  void make();

  const Action& action() const { return action_; }
  const DomainPointer& domain() const { return domain_; }
  const LinkStore& links() const { return links_; }
  /// The operator for fields of a precision, with the stored links; made on first use.
  const DiracOperator& dirac(const PrecisionInfo& precision);
  /// The operator of true residuals: in double, with the given links.
  const DiracOperator& exact() { return exact_ ? *exact_ : dirac(find_precision("double")); }
  /// Whether `exact` is another operator than dirac() in double.
  bool exact_differs() const { return exact_ != nullptr; }
  /// The operator of residuals during a solve.
  const DiracOperator& high() { return in_double() ? exact() : dirac(*precision.outer); }
  bool in_double() const { return precision.outer->name == "double"; }
  /// Deviation of the links that iterations use from those of `high`, in its precision.
  double low_deviation() const { return exact_ && in_double() ? deviation_.typical : 0; }
  const LinkDeviation& deviation() const { return deviation_; }
  /// Storage of the links, in the form of reports.
  std::string links_used() const;

  /// |b - M x| of each right-hand side in double.
  std::vector<double> defects(const SpinorField& x, const SpinorField& b);
  /// Makes the work space of `defects`.
  void reserve();
  const Blas& blas();

  Precisions precision;

 private:
  Action action_;
  DomainPointer domain_;
  LinkStore links_;
  LinkDeviation deviation_;
  std::map<const PrecisionInfo*, std::unique_ptr<DiracOperator>> operators_;
  std::unique_ptr<DiracOperator> exact_;  ///< null if dirac() in double has the given links
  std::optional<SpinorField> residual_;
  std::optional<Blas> blas_;
};

}  // namespace quarksmith
