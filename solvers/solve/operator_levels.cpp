#include "solvers/solve/operator_levels.hpp"

#include <cmath>

namespace quarksmith {

OperatorLevels::OperatorLevels(const Action& action, const WorkingGauge& gauge, const DomainPointer& domain,
                               const SolveSettings& s)
    : precision(precisions_of(s.precision, s.parameters.preconditioner ? 3 : 2)),
      action_(action),
      domain_(domain),
      links_(gauge.store(domain, s.links, s.basis)) {}

/// If the storage misses the links by more than rounding, the outermost operator in double keeps all 18 reals.
void OperatorLevels::make() {
  deviation_ = action_.deviation(links_);
  const auto make = [&](const LinkStore& l, const PrecisionInfo& p) { return action_.make(l, p); };
  if (!deviation_.negligible()) exact_ = make_exact(links_, deviation_, make);
  exact();
  high();
  for (const PrecisionInfo* p : {precision.inner, precision.lowest}) dirac(*p);
  links_.release();  // the site terms are made
}

std::string OperatorLevels::links_used() const {
  return exact_ ? links_text(links_.exact().storage(), links_.storage()) : links_.storage();
}

const DiracOperator& OperatorLevels::dirac(const PrecisionInfo& in) {
  auto& made = operators_[&in];
  if (!made) made = action_.make(links_, in);
  return *made;
}

const Blas& OperatorLevels::blas() {
  if (!blas_) blas_.emplace(exact().matrix());
  return *blas_;
}

void OperatorLevels::reserve() {
  if (!residual_) residual_.emplace(exact().matrix().field());
}

std::vector<double> OperatorLevels::defects(const SpinorField& x, const SpinorField& b) {
  reserve();
  std::vector<double> norms;
  for (int n = 0; n < b.rhs(); ++n) {
    exact().matrix().apply(*residual_, x.columns(n, 1), Dagger::no);
    norms.push_back(std::sqrt(blas().residual(b.columns(n, 1), *residual_)));
  }
  return norms;
}

}  // namespace quarksmith
