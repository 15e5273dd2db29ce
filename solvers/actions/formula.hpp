/// \file
/// Operators of actions that are not of hopping shape: M and M^+ on all sites by one kernel each, which evaluates the
/// formula as written (docs/howto-action.md).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "solvers/actions/action_fields.hpp"
#include "solvers/actions/dirac.hpp"

namespace quarksmith {

/// Fields and numbers that kernels of a formula take besides the fermion, by their names in the statement.
class NamedArguments {
 public:
  /// \param storage of links in SU(3).
  NamedArguments(const ActionFields& fields, const PrecisionInfo& precision, std::string_view storage);
  /// The argument of a name; none if the statement has no such field or number.
  std::optional<ExpressionArgument> find(std::string_view name) const;
  /// Whether there are links in SU(3) among them.
  static bool has_links(const ActionInfo& info);

 private:
  std::map<std::string, std::shared_ptr<const LinkField>, std::less<>> links_;
  std::map<std::string, SpinorField, std::less<>> spinors_;
  std::map<std::string, Complex64, std::less<>> numbers_;
};

/// M of a formula on all sites, in one precision. Flavours are the slices of a vector.
class FormulaMatrix final : public DiracMatrix {
 public:
  /// \throws MissingKernel the build lacks the kernels of M or M^+.
  FormulaMatrix(const ActionFields& fields, const PrecisionInfo& precision, const BoundaryPhases& boundary);
  void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const override;
  void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const override;
  Subset subset() const override { return Subset::full; }
  const DomainPointer& domain() const override { return domain_; }
  const PrecisionInfo& precision() const override { return *precision_; }
  Components components() const override { return {info_->spins, colours_}; }
  int slices() const override { return info_->flavours; }
  double flops() const override;
  bool turns_corners() const override;

 private:
  const Kernel* kernel_for(std::string_view operation) const;

  const ActionInfo* info_;
  DomainPointer domain_;
  const PrecisionInfo* precision_;
  ExpressionSettings settings_;
  int colours_;
  std::string storage_;
  NamedArguments named_;
  const Kernel* kernels_[2];  // of M, M^+
};

/// The operators of a formula in one precision; there is no even-odd form.
class FormulaDirac final : public FlavouredDirac {
 public:
  /// \param source,sink as of FlavouredDirac.
  FormulaDirac(std::shared_ptr<const ActionFields> fields, const PrecisionInfo& precision,
               const BoundaryPhases& boundary, int source = 0, int sink = 0)
      : FlavouredDirac(source, sink), fields_(std::move(fields)), matrix_(*fields_, precision, boundary) {}
  const FormulaMatrix& matrix() const override { return matrix_; }
  const ActionFields& fields() const override { return *fields_; }
  /// \throws UsageError always.
  std::unique_ptr<EvenOddOperator> even_odd_operator(EvenOddForm form, int rhs,
                                                     Parity kept = Parity::even) const override;

 private:
  std::shared_ptr<const ActionFields> fields_;
  FormulaMatrix matrix_;
};

}  // namespace quarksmith
