#include "solvers/hmc/links.hpp"

#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"

namespace quarksmith {
namespace {

LinkField like(const LinkField& u) { return {u.domain_pointer(), u.precision(), u.storage()}; }

LinkField on_device(const HostGauge& gauge, const DomainPointer& domain) {
  return upload(gauge, domain, find_precision("double"), find_storage("r18"));
}

const HostGauge& checked(const HostGauge& gauge, const DomainPointer& domain) {
  require_su3(gauge, "molecular dynamics", domain->communicator());
  return gauge;
}

}  // namespace

EvolvingLinks::EvolvingLinks(const HostGauge& start, const DomainPointer& domain)
    : links_(std::make_shared<const LinkField>(on_device(checked(start, domain), domain))),
      zero_(on_device(HostGauge(start.lattice), domain)) {}

void EvolvingLinks::clear(LinkField& matrices) const { evaluate("kick", {zero_, zero_, 0, matrices}); }

LinkField EvolvingLinks::cleared() const {
  LinkField matrices = like(zero_);
  clear(matrices);
  return matrices;
}

void EvolvingLinks::replace(std::shared_ptr<const LinkField> links) {
  links_ = std::move(links);
  smeared_.clear();
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

const EvolvingLinks::Smeared& EvolvingLinks::smeared(const StoutLinks& stout) const {
  const auto found = smeared_.find(stout);
  if (found != smeared_.end()) return found->second;
  std::vector<std::shared_ptr<const LinkField>> steps = {links_};
  for (int n = 0; n < stout.steps; ++n) {
    auto next = std::make_shared<LinkField>(like(*links_));
    evaluate(stout.space ? "stout3_step" : "stout4_step", {*steps.back(), stout.rho, *next});
    steps.push_back(std::move(next));
  }
  LinkStore store(steps.back(), "r18", "non_relativistic");
  return smeared_.emplace(stout, Smeared{std::move(steps), std::move(store)}).first->second;
}

const LinkStore& EvolvingLinks::store(const StoutLinks& stout) const { return smeared(stout).store; }

const std::vector<std::shared_ptr<const LinkField>>& EvolvingLinks::steps(const StoutLinks& stout) const {
  return smeared(stout).steps;
}

}  // namespace quarksmith
