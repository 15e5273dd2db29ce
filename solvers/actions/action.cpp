#include "solvers/actions/action.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "solvers/actions/domain_wall.hpp"
#include "solvers/actions/formula.hpp"
#include "solvers/actions/hopping_dirac.hpp"

namespace quarksmith {

Action::Action(std::string_view name, const std::map<std::string, double>& parameters, const BoundaryPhases& boundary)
    : Action(ActionValues(find_action(name), parameters), {.boundary = boundary}) {}

bool Action::has_even_odd() const {
  return info().has_hops() && (!info().chain.empty() || has_given_term() || SiteTerm::has_inverse(values_));
}

bool Action::is_squared() const {
  return info().anti_hermitian && info().flavours == 1 && info().constant.empty() && values_(info().twist) == 0 &&
         !has_given_term() && !StoredTerm::is_part_of(values_);
}

bool Action::has_given_term() const { return setting_.fields.contains(given_term) && takes_term(info()); }

Action Action::on(const Lattice& lattice) const {
  Action other = *this;
  for (auto& [name, field] : other.setting_.fields)
    field = std::make_shared<const GivenField>(unit_field(*field, lattice));
  return other;
}

std::optional<Action> Action::adjoint() const {
  const std::optional<ActionValues> values = values_.of_adjoint();
  if (!values) return {};
  Action other(*values, setting_);
  other.setting_.source = other.setting_.sink;
  return other;
}

std::unique_ptr<DiracOperator> Action::make(const LinkStore& links, const PrecisionInfo& precision) const {
  auto fields = std::make_shared<const ActionFields>(values_, setting_.fields, links);
  if (!info().has_hops())
    return std::make_unique<FormulaDirac>(std::move(fields), precision, setting_.boundary, setting_.source,
                                          setting_.sink);
  HoppingTerm hopping(*fields, precision, setting_.boundary);
  if (!info().chain.empty() && links.colours() != 3)
    throw UsageError(fmt::format("action {}: a fifth dimension is built for three colours, these links have {}",
                                 info().name, links.colours()));
  if (!info().chain.empty())
    return std::make_unique<DomainWallDirac>(std::move(fields), DomainWallHopping(std::move(hopping)));
  return std::make_unique<HoppingDirac>(std::move(fields), std::move(hopping), setting_.source, setting_.sink);
}

LinkDeviation Action::deviation(const LinkStore& links) const {
  const ActionFields fields(values_, setting_.fields, links);
  return info().has_hops() ? fields.deviation(links.storage()) : links.deviation();
}

std::string Action::default_links(std::string_view of_gauge) const {
  const int colours = find_storage(of_gauge).colours;
  if (info().reach > 1 && colours == 3) {
    const auto given = setting_.fields.find(info().fields[std::size_t(info().links[1])].name);
    return given == setting_.fields.end() || given->second->unitary ? "r13" : "r18";
  }
  for (const int field : info().links) {
    const ActionField& f = info().fields[std::size_t(field)];
    if (info().reach > 1 || (info().has_hops() && !f.group.empty() && f.group != "SU(3)"))
      return std::string(full_storage(colours).name);
  }
  return std::string(of_gauge);
}

}  // namespace quarksmith
