#include "solvers/hmc/links.hpp"

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/fields/link_check.hpp"

namespace quarksmith {
namespace {

constexpr double link_rounding = 1e-12;

}  // namespace

EvolvingLinks::EvolvingLinks(const GaugeLinks& start, const DomainPointer& domain) : domain_(domain) { set(start); }

void EvolvingLinks::set(const GaugeLinks& links) {
  double deviation = links.bound();
  if (!surely_su3(deviation)) {
    const Unitarity found = require_su3(links, "molecular dynamics", domain_->communicator());
    deviation = std::max(found.unitary, found.determinant);
  }
  replace(links.on(domain_));
  if (deviation > link_rounding) reunitarise();
}

LinkField zero_momenta(const DomainPointer& domain, int colours) {
  LinkField p(domain, find_precision("double"), algebra_storage(colours));
  p.fill(0);
  return p;
}

LinkField EvolvingLinks::cleared() const { return zero_momenta(domain(), links_->colours()); }

void EvolvingLinks::replace(std::shared_ptr<const LinkField> links) {
  links_ = std::move(links);
  smeared_.clear();
  ++version_;
}

void EvolvingLinks::move(const LinkField& p, double step) {
  auto next = scratch_.field(domain_, links_->colours());
  evaluate("move_links", {*links_, p, step}, {*next});
  replace(std::move(next));
}

void EvolvingLinks::reunitarise() {
  auto next = scratch_.field(domain_, links_->colours());
  evaluate("back_to_su3", {*links_}, {*next});
  replace(std::move(next));
}

const EvolvingLinks::Smeared& EvolvingLinks::smeared(const StatedSmearing& smearing) const {
  const auto found = smeared_.find(smearing);
  if (found != smeared_.end()) return found->second;
  std::vector<StatementFields> steps;
  std::shared_ptr<const LinkField> links = links_;
  for (int n = 0; !smearing.none() && n < smearing.steps; ++n) {
    const LinkProgram program = program_of(smearing);
    StatementFields& fields = steps.emplace_back(program.info().fields.size());
    fields[0] = links;
    program.make(fields, scratch_);
    links = fields[std::size_t(smeared_field(program.info()))];
  }
  links = represented(std::move(links), smearing.representation);
  LinkStore store(links, std::string(links->storage().name), "non_relativistic");
  return smeared_.emplace(smearing, Smeared{std::move(steps), std::move(store)}).first->second;
}

const LinkStore& EvolvingLinks::store(const StatedSmearing& smearing) const { return smeared(smearing).store; }

const std::vector<StatementFields>& EvolvingLinks::steps(const StatedSmearing& smearing) const {
  return smeared(smearing).steps;
}

LinkProgram program_of(const StatedSmearing& smearing) {
  return LinkProgram(ActionValues(find_smearing(smearing.name), smearing.parameters));
}

int smeared_field(const ActionInfo& smearing) {
  const auto fields = smearing.fields;
  const auto found = std::find_if(fields.begin(), fields.end(), [](const ActionField& f) { return !f.group.empty(); });
  return static_cast<int>(found - fields.begin());
}

}  // namespace quarksmith
