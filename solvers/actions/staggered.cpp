#include "solvers/actions/staggered.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "runtime/fields/expression.hpp"

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
  return links.derived<ImprovedLinks>(links_made_by(values_),
                                      [&] { return improved_links(values_, links.gauge(), links.domain()); });
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
  if (links.on_device() && !given_) return on_device(links, precision);
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

/// From links on the device: the scales of stored links follow from the weights of their paths.
HoppingTerm StaggeredAction::on_device(const LinkStore& links, const PrecisionInfo& precision) const {
  const ImprovedLinkFields& fields = improved_link_fields(values_, links);
  const PrecisionInfo& stored = find_precision(precision.links);
  const StapleCoefficients c = coefficients_of(values_.info().link_stages.back(), values_);
  const double largest = std::abs(c.one) + 6 * std::abs(c.three) + 24 * std::abs(c.five) + 48 * std::abs(c.seven) +
                         6 * std::abs(c.lepage);  // an element of a fat link
  const auto store = [&](const LinkField& from, std::string_view storage, double scale, int depth) {
    LinkField divided(from.domain_pointer(), from.precision(), from.storage(), depth);
    evaluate("kick", {from, from, 1 / scale - 1, divided});
    LinkField to = encode_links(divided, stored, find_storage(storage));
    to.set_scale(scale);
    return std::make_shared<LinkField>(std::move(to));
  };
  const bool integers = stored.word_bytes < 4, unitary = find_storage(links.storage()).group == "U(3)";
  return {store(fields.fat, "r18", integers ? largest : 1, 1),
          precision,
          links.basis(),
          values_,
          boundary_,
          nullptr,
          store(fields.longs, links.storage(), integers || unitary ? std::abs(c.naik) : 1, reach())};
}

std::unique_ptr<DiracOperator> StaggeredAction::make(const LinkStore& links, const PrecisionInfo& precision) const {
  return std::make_unique<StatedDirac>(hopping(links, precision));
}

}  // namespace quarksmith
