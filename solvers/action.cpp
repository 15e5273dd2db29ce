#include "solvers/action.hpp"

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"

namespace quarksmith {

std::unique_ptr<DiracOperator> DiracOperator::cut() const {
  throw UsageError("this action has no operator of a rank's part alone; use a preconditioner without schwarz-");
}

void DiracOperator::embed(SpinorField& b, const SpinorField& source) const { b.copy_from(source); }

void DiracOperator::project(SpinorField& quark, const SpinorField& x) const { quark.copy_from(x); }

LinkStore::LinkStore(const HostGauge& gauge, DomainPointer domain, std::string storage, std::string basis)
    : gauge_(&gauge), domain_(std::move(domain)), storage_(std::move(storage)), basis_(&find_basis(basis)) {}

std::shared_ptr<LinkField> LinkStore::store(std::string_view precision, std::string_view storage) const {
  return std::make_shared<LinkField>(upload(*gauge_, domain_, find_precision(precision), find_storage(storage)));
}

const LinkField& LinkStore::plain() const {
  if (!plain_) plain_ = store("double", "r18");
  return *plain_;
}

}  // namespace quarksmith
