#include "solvers/actions/stated.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith {

std::unique_ptr<ReducedOperator> StatedDirac::reduced(Reduction form, int rhs) const {
  return even_odd(hopping_, form, rhs);
}

std::unique_ptr<DiracOperator> StatedDirac::dirichlet() const {
  if (hopping_.values().info().reach > 1) return DiracOperator::dirichlet();
  return std::make_unique<StatedDirac>(hopping_.dirichlet(), source_, sink_);
}

void StatedDirac::embed(SpinorField& b, const SpinorField& source) const {
  if (!embeds()) return b.copy_from(source);
  b.fill(0);
  const SpinorField flavours = b.by_slice();
  for (int n = 0; n < source.rhs(); ++n)
    flavours.slice(hopping_.slices() * n + source_, 1).copy_from(source.slice(n, 1));
}

void StatedDirac::project(SpinorField& quark, const SpinorField& x) const {
  if (!embeds()) return quark.copy_from(x);
  const SpinorField flavours = x.by_slice();
  for (int n = 0; n < quark.rhs(); ++n) quark.slice(n, 1).copy_from(flavours.slice(hopping_.slices() * n + sink_, 1));
}

StatedAction::StatedAction(ActionValues values, const BoundaryPhases& boundary, int source, int sink)
    : values_(std::move(values)), boundary_(boundary), source_(source), sink_(sink) {
  const ActionInfo& info = values_.info();
  if (!serves(info))
    throw UsageError(
        fmt::format("action {} is not made of hops over one link in four dimensions: {}", info.name, info.formula));
}

bool StatedAction::serves(const ActionInfo& info) {
  return !info.hopping.empty() && info.chain.empty() && info.reach == 1;
}

bool StatedAction::has_even_odd() const {
  return values_(values_.info().diagonal) != 0 || HoppingTerm::stores(values_);
}

std::string StatedAction::name() const { return option_name(values_.info().name); }

std::unique_ptr<DiracOperator> StatedAction::make(const LinkStore& links, const PrecisionInfo& precision) const {
  const LinkField* plain = HoppingTerm::stores(values_) ? &links.plain() : nullptr;
  return std::make_unique<StatedDirac>(
      HoppingTerm(links.store(precision.links), precision, links.basis(), values_, boundary_, plain), source_, sink_);
}

}  // namespace quarksmith
