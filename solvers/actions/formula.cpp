#include "solvers/actions/formula.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/error.hpp"

namespace quarksmith {

bool NamedArguments::has_links(const ActionInfo& info) {
  const auto all = info.fields;
  return std::any_of(all.begin(), all.end(), [](const ActionField& f) { return f.group == "SU(3)"; });
}

NamedArguments::NamedArguments(const ActionFields& fields, const PrecisionInfo& precision, std::string_view storage) {
  const ActionInfo& info = fields.info();
  for (const NamedNumber& n : info.arguments) numbers_.emplace(n.name, fields.values().complex(n.number));
  for (std::size_t n = 0; n < info.fields.size(); ++n) {
    const ActionField& f = info.fields[n];
    const bool numbers = f.kind == "scalars" || f.kind == "phases",
               matrices = f.kind == "links" || f.kind == "matrices";
    if (!numbers && !matrices)
      spinors_.emplace(f.name, fields.spinor(int(n), precision));
    else if (numbers || !f.group.empty())
      links_.emplace(f.name,
                     fields.stored(int(n), precision, f.group == "SU(3)" ? storage : fields.links().exact().storage()));
  }
}

std::optional<ExpressionArgument> NamedArguments::find(std::string_view name) const {
  if (const auto number = numbers_.find(name); number != numbers_.end()) return number->second;
  if (const auto links = links_.find(name); links != links_.end()) return *links->second;
  if (const auto spinor = spinors_.find(name); spinor != spinors_.end()) return spinor->second;
  return {};
}

FormulaMatrix::FormulaMatrix(const ActionFields& fields, const PrecisionInfo& precision, const BoundaryPhases& boundary)
    : info_(&fields.info()),
      domain_(fields.links().domain()),
      precision_(&precision),
      settings_{boundary, info_->has_basis ? fields.links().basis().name : ""},
      colours_(fields.links().colours()),
      storage_(NamedArguments::has_links(*info_) ? fields.links().storage() : ""),
      named_(fields, precision, storage_) {
  const std::string_view operation[2] = {info_->own_kernels(), info_->conjugate};
  for (const bool dagger : {false, true}) kernels_[dagger] = kernel_for(operation[dagger]);
}

const Kernel* FormulaMatrix::kernel_for(std::string_view operation) const {
  try {
    return &find(domain_->device().kernels(), {.operation = operation,
                                               .precision = precision_->name,
                                               .links = storage_,
                                               .basis = settings_.basis,
                                               .spins = info_->spins,
                                               .colours = colours_,
                                               .expression = true});
  } catch (const MissingKernel& missing) {  // one row serves M, M^+ and what comes with them
    const std::string why = missing.what();
    std::string row = fmt::format("[[kernel]]\naction = \"{}\"\nprecision = [\"{}\"]\n", info_->name, precision_->name);
    if (!storage_.empty()) row += fmt::format("links = [\"{}\"]\n", storage_.substr(storage_[0] == 'r'));
    if (!settings_.basis.empty()) row += fmt::format("basis = [\"{}\"]\n", settings_.basis);
    const std::size_t end = why.rfind("]\n");
    throw MissingKernel(fmt::format(
        "this build has no kernels of action {} for what was asked; add to the profile and build again:\n{}{}",
        option_name(info_->name), row, end == why.npos ? "" : why.substr(end + 2)));
  }
}

bool FormulaMatrix::turns_corners() const {
  return std::ranges::any_of(parameters_of(*kernels_[0]),
                             [](const ExpressionParameter& p) { return p.is_spinor() && p.reach.corners; });
}

void FormulaMatrix::apply(SpinorField& out, const SpinorField& in, Dagger dagger) const {
  const Kernel& kernel = *kernels_[dagger == Dagger::yes];
  SpinorField to = out.by_slice();
  const SpinorField from = in.by_slice();
  std::vector<ExpressionArgument> inputs;
  for (const ExpressionParameter& p : parameters_of(kernel)) {
    if (p.is_output()) continue;
    const auto known = named_.find(p.name);
    inputs.push_back(known ? *known : ExpressionArgument(from));
  }
  const std::vector<ExpressionOutput> outputs = {to};
  evaluate(kernel.operation, inputs, outputs, settings_);
}

void FormulaMatrix::add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const {
  force.add_formula(x, y, weight);
}

double FormulaMatrix::flops() const {
  return kernels_[0]->flops * slices() * static_cast<double>(domain()->lattice().global_sites());
}

std::unique_ptr<EvenOddOperator> FormulaDirac::even_odd_operator(EvenOddForm, int, Parity) const {
  throw UsageError("this action has no even-odd form: its formula stands as it is; solve on all sites");
}

}  // namespace quarksmith
