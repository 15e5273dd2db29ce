#include "solvers/gauge/link_smearing.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/fields/gauge.hpp"
#include "runtime/text.hpp"

namespace quarksmith {

std::string form_of(const LinkSmearingKind& kind) { return fmt::format("{}:{}", kind.name, form_of(kind.parameters)); }

std::string link_smearing_forms() {
  std::vector<std::string> forms;
  for (const LinkSmearingKind* kind : listed<LinkSmearingKind>()) forms.push_back(form_of(*kind));
  return one_of(std::vector<std::string_view>(forms.begin(), forms.end()));
}

LinkSmearing link_smearing_of(const std::string& text) {
  const std::string subject = fmt::format("smearing '{}'", text);
  const auto [name, numbers] = cut_at_colon(text);
  for (const LinkSmearingKind* kind : listed<LinkSmearingKind>())
    if (kind->name == name) return {kind, read_choice(numbers, kind->parameters, subject, form_of(*kind))};
  throw UsageError(fmt::format("{} is unknown; {}use {}", subject, suggestion(name, names_of<LinkSmearingKind>()),
                               link_smearing_forms()));
}

std::uint64_t LinkSmearing::steps() const {
  for (std::size_t n = 0; n < values.size(); ++n)
    if (kind->parameters[n].name == link_smearing_steps.name) return values[n].whole;
  return 1;
}

LinkField smear_on_device(const LinkSmearing& how, const HostGauge& gauge, const DomainPointer& domain,
                          const std::function<void()>& look) {
  require_su3(gauge, "smearing", domain->communicator());
  LinkField u = upload(gauge, domain, find_precision("double"), full_storage(gauge.colours()));
  LinkField v(domain, u.precision(), u.storage());
  for (std::uint64_t n = 0; n < how.steps(); ++n) {
    look();
    how.kind->step(how.values, u, v);
    std::swap(u, v);
  }
  return u;
}

HostGauge smear(const LinkSmearing& how, const HostGauge& gauge, const DomainPointer& domain) {
  if (how.kind == nullptr) return gauge;
  HostGauge smeared = download(smear_on_device(how, gauge, domain));
  smeared.phase = gauge.phase;
  return smeared;
}

}  // namespace quarksmith
