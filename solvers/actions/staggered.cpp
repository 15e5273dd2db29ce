#include "solvers/actions/staggered.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith {
ActionValues StaggeredParameters::values(double m) const {
  return {find_action(kind == Kind::thin ? "staggered" : "improved_staggered"), {{"mass", m}}};
}

StaggeredAction::StaggeredAction(const StaggeredParameters& parameters) : StaggeredAction(parameters, nullptr) {}

StaggeredAction::StaggeredAction(const StaggeredParameters& parameters, std::shared_ptr<const ImprovedLinks> links)
    : parameters_(parameters), given_(std::move(links)) {
  if (!(parameters.mass > 0))
    throw UsageError(fmt::format("mass {} of staggered quarks: M = 2m + D; use m > 0", parameters.mass));
}

std::string StaggeredAction::name() const {
  using Kind = StaggeredParameters::Kind;
  return parameters_.kind == Kind::thin ? "staggered" : parameters_.kind == Kind::asqtad ? "asqtad" : "hisq";
}

/// Fat and long links, made once for all precisions.
const ImprovedLinks& StaggeredAction::improved(const LinkStore& links) const {
  if (find_storage(links.storage()).group == "SU(3)")
    throw UsageError(
        fmt::format("links '{}': long links are a number times U(3); use r13, r9 or r18", links.storage()));
  if (given_) return *given_;
  const std::string made = fmt::format("{} {} {}", name(), parameters_.u0, parameters_.naik_epsilon);
  return links.derived<ImprovedLinks>(made, [&] {
    return parameters_.kind == StaggeredParameters::Kind::asqtad
               ? asqtad_links(links.gauge(), links.domain(), parameters_.u0)
               : hisq_links(links.gauge(), links.domain(), parameters_.naik_epsilon);
  });
}

LinkDeviation StaggeredAction::deviation(const LinkStore& links) const {
  if (parameters_.kind == StaggeredParameters::Kind::thin) return links.deviation();
  const StorageInfo& storage = find_storage(links.storage());
  const HostGauge& longs = improved(links).longs;
  if (storage.group == "any") return {};
  return deviation_of(upload_scaled(longs, links.domain(), find_precision("double"), storage, reach()), longs);
}

HoppingTerm StaggeredAction::hopping(const LinkStore& links, const PrecisionInfo& precision) const {
  if (parameters_.kind == StaggeredParameters::Kind::thin)
    return {links.store(precision.links), precision, links.basis(), parameters_.values(), parameters_.boundary};
  const ImprovedLinks& made = improved(links);
  const PrecisionInfo& stored = find_precision(precision.links);
  const auto store = [&](const HostGauge& gauge, std::string_view storage, int depth) {
    return std::make_shared<LinkField>(upload_scaled(gauge, links.domain(), stored, find_storage(storage), depth));
  };
  return {store(made.fat, "r18", 1),
          precision,
          links.basis(),
          parameters_.values(),
          parameters_.boundary,
          nullptr,
          store(made.longs, links.storage(), reach())};
}

std::unique_ptr<DiracOperator> StaggeredAction::make(const LinkStore& links, const PrecisionInfo& precision) const {
  return std::make_unique<StatedDirac>(hopping(links, precision));
}

}  // namespace quarksmith
