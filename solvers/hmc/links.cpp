#include "solvers/hmc/links.hpp"

#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith {
namespace {

LinkField like(const LinkField& u) { return {u.domain_pointer(), u.precision(), u.storage()}; }

}  // namespace

EvolvingLinks::EvolvingLinks(const HostGauge& start, const DomainPointer& domain) {
  require_su3(start, "molecular dynamics", domain->communicator());
  links_ = std::make_shared<const LinkField>(upload(start, domain, find_precision("double"), find_storage("r18")));
}

void EvolvingLinks::replace(std::shared_ptr<const LinkField> links) {
  links_ = std::move(links);
  stores_.clear();
  ++version_;
}

void EvolvingLinks::move(const LinkField& p, double step) {
  auto next = std::make_shared<LinkField>(like(*links_));
  evaluate("move_links", {*links_, p, step, *next});
  replace(std::move(next));
}

void EvolvingLinks::reunitarise() {
  auto next = std::make_shared<LinkField>(like(*links_));
  evaluate("back_to_su3", {*links_, *next});
  replace(std::move(next));
}

const LinkStore& EvolvingLinks::store(const StoutLinks& stout) const {
  const auto found = stores_.find(stout);
  if (found != stores_.end()) return found->second;
  std::shared_ptr<const LinkField> links = links_;
  for (int n = 0; n < stout.steps; ++n) {
    auto next = std::make_shared<LinkField>(like(*links));
    evaluate(stout.space ? "stout3_step" : "stout4_step", {*links, stout.rho, *next});
    links = std::move(next);
  }
  return stores_.emplace(stout, LinkStore(std::move(links), "r18", "non_relativistic")).first->second;
}

}  // namespace quarksmith
