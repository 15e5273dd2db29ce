#include "solvers/hmc/links.hpp"

#include <algorithm>

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
    : links_(std::make_shared<const LinkField>(on_device(checked(start, domain), domain))) {}

LinkField EvolvingLinks::cleared() const {
  LinkField matrices = like(*links_);
  matrices.fill(0);
  return matrices;
}

std::shared_ptr<LinkField> EvolvingLinks::scratch(const DomainPointer& domain) const {
  const auto found =
      std::find_if(idle_->begin(), idle_->end(), [&](const auto& f) { return f->domain_pointer() == domain; });
  std::unique_ptr<LinkField> field;
  if (found != idle_->end()) {
    field = std::move(*found);
    idle_->erase(found);
  } else {
    field = std::make_unique<LinkField>(domain, links_->precision(), links_->storage());
  }
  return {field.release(), [idle = std::weak_ptr(idle_)](LinkField* f) {
            std::unique_ptr<LinkField> done(f);
            if (const auto kept = idle.lock()) kept->push_back(std::move(done));
          }};
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
