#include "solvers/actions/staggered.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"

namespace quarksmith {

ActionValues StaggeredParameters::values() const {
  if (kind == Kind::asqtad) return {find_action("asqtad"), {{"mass", mass}, {"u0", u0}}};
  if (kind == Kind::hisq) return {find_action("hisq"), {{"mass", mass}, {"naik_epsilon", naik_epsilon}}};
  return {find_action("staggered"), {{"mass", mass}}};
}

/// Fat and long links, made once for all precisions.
const ImprovedLinks& StaggeredAction::improved(const LinkStore& links) const {
  if (find_storage(links.storage()).group == "SU(3)")
    throw UsageError(
        fmt::format("links '{}': long links are a number times U(3); use r13, r9 or r18", links.storage()));
  if (given_) return *given_;
  std::string made(values_.info().name);
  for (const ActionNumber number : values_.info().link_numbers) made += fmt::format(" {:.17g}", values_(number));
  return links.derived<ImprovedLinks>(made, [&] { return improved_links(values_, links.gauge(), links.domain()); });
}

LinkDeviation StaggeredAction::deviation(const LinkStore& links) const {
  if (thin()) return links.deviation();
  const StorageInfo& storage = find_storage(links.storage());
  const HostGauge& longs = improved(links).longs;
  if (storage.group == "any") return {};
  return deviation_of(upload_scaled(longs, links.domain(), find_precision("double"), storage, reach()), longs);
}

HoppingTerm StaggeredAction::hopping(const LinkStore& links, const PrecisionInfo& precision) const {
  if (thin()) return {links.store(precision.links), precision, links.basis(), values_, boundary_};
  const ImprovedLinks& made = improved(links);
  const PrecisionInfo& stored = find_precision(precision.links);
  const auto store = [&](const HostGauge& gauge, std::string_view storage, int depth) {
    return std::make_shared<LinkField>(upload_scaled(gauge, links.domain(), stored, find_storage(storage), depth));
  };
  return {store(made.fat, "r18", 1),
          precision,
          links.basis(),
          values_,
          boundary_,
          nullptr,
          store(made.longs, links.storage(), reach())};
}

std::unique_ptr<DiracOperator> StaggeredAction::make(const LinkStore& links, const PrecisionInfo& precision) const {
  return std::make_unique<StatedDirac>(hopping(links, precision));
}

}  // namespace quarksmith
