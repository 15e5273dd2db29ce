#include "solvers/actions/formula_action.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith {

FormulaMatrix::FormulaMatrix(std::shared_ptr<const LinkField> links, const PrecisionInfo& precision,
                             const BasisInfo& basis, ActionValues values, const BoundaryPhases& boundary)
    : links_(std::move(links)),
      precision_(&precision),
      basis_(&basis),
      values_(std::move(values)),
      settings_{boundary, basis.name} {
  for (const bool dagger : {false, true})
    kernels_[dagger] =
        &find(domain()->device().kernels(), {.operation = dagger ? values_.info().conjugate : values_.info().name,
                                             .precision = precision.name,
                                             .links = links_->storage().name,
                                             .basis = basis.name,
                                             .spins = spins()});
}

void FormulaMatrix::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  const Kernel& kernel = *kernels_[dagger == Dagger::yes];
  std::vector<ExpressionArgument> arguments;
  std::size_t number = 0;  // parameters stand in the order of the statement
  for (const ExpressionParameter& p : parameters_of(kernel)) {
    if (p.is_number())
      arguments.emplace_back(values_.all().at(number++));
    else if (p.is_spinor())
      arguments.emplace_back(p.is_output() ? out : in);
    else
      arguments.emplace_back(*links_);
  }
  evaluate(kernel.operation, arguments, settings_);
}

double FormulaMatrix::flops() const {
  return kernels_[0]->flops * static_cast<double>(domain()->lattice().global_sites());
}

std::unique_ptr<ReducedOperator> FormulaDirac::reduced(Reduction, int) const {
  throw UsageError("this action has no even-odd form: its formula stands as it is; solve on all sites");
}

FormulaAction::FormulaAction(ActionValues values, const BoundaryPhases& boundary)
    : values_(std::move(values)), boundary_(boundary) {
  if (!serves(values_.info()))
    throw UsageError(fmt::format("action {} is made of hops; use StatedAction", values_.info().name));
}

std::string FormulaAction::name() const { return option_name(values_.info().name); }

std::unique_ptr<DiracOperator> FormulaAction::make(const LinkStore& links, const PrecisionInfo& precision) const {
  return std::make_unique<FormulaDirac>(
      FormulaMatrix(links.store(precision.links), precision, links.basis(), values_, boundary_));
}

}  // namespace quarksmith
