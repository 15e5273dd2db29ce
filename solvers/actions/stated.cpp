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
    flavours.columns(hopping_.slices() * n + source_, 1).copy_from(source.columns(n, 1));
}

void StatedDirac::project(SpinorField& quark, const SpinorField& x) const {
  if (!embeds()) return quark.copy_from(x);
  const SpinorField flavours = x.by_slice();
  for (int n = 0; n < quark.rhs(); ++n)
    quark.columns(n, 1).copy_from(flavours.columns(hopping_.slices() * n + sink_, 1));
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

/// That in double, while an operator has it, serves all operators with these values on these links.
std::shared_ptr<const CloverTerm> StatedAction::clover(const LinkStore& links, const PrecisionInfo& precision) const {
  if (!HoppingTerm::stores(values_)) return nullptr;
  using Term = std::shared_ptr<const CloverTerm>;
  const auto made = links.derived<std::shared_ptr<Term::weak_type>>(
      fmt::format("clover term of {}: {}", values_.info().name, values_.text()),
      [] { return std::make_shared<Term::weak_type>(); });
  const PrecisionInfo& high = find_precision("double");
  Term term = made->lock();
  if (term == nullptr) *made = term = HoppingTerm::clover_of(values_, links.plain(), high);
  return precision.links == high.links ? term
                                       : std::make_shared<const CloverTerm>(*term, find_precision(precision.links));
}

std::unique_ptr<DiracOperator> StatedAction::make(const LinkStore& links, const PrecisionInfo& precision) const {
  return std::make_unique<StatedDirac>(
      HoppingTerm(links.store(precision.links), precision, links.basis(), values_, boundary_, clover(links, precision)),
      source_, sink_);
}

}  // namespace quarksmith
