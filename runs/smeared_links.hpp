/// \file
/// The links of a configuration on the device, unsmeared and smeared.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runs/session.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::runs {

/// Warns where smearing has lowered the average plaquette, which too strong a smearing does. \param how in words.
void warn_of_roughening(const std::string& how, double before, double after, Session& session);
/// The smeared links of an option, with that warning. \param text of the smearing. \param look as of smear_on_device.
LinkField smear_with_warning(
    const std::string& text, const HostGauge& gauge, const DomainPointer& domain, Session& session,
    const std::function<void()>& look = [] {});

/// The links of a configuration by the text of their smearing, such as `stout:RHO:STEPS`; made when first asked for.
class SmearedLinks {
 public:
  /// \param gauge outlives this; what it holds may be replaced until links are asked for.
  /// \param look is called before each step, and may throw to end it.
  SmearedLinks(const GaugeLinks& gauge, DomainPointer domain, Session& session, std::function<void()> look)
      : gauge_(gauge),
        domain_(std::move(domain)),
        session_(session),
        storage_(default_links(gauge, session.ranks())),
        look_(std::move(look)) {}

  /// Links stored with all reals, as actions take them. \param text of the smearing; empty: none.
  std::shared_ptr<const LinkField> whole(const std::string& text) {
    auto& found = whole_[text];
    if (!found)
      found = text.empty()
                  ? gauge_.on(domain_)
                  : std::make_shared<const LinkField>(smear_with_warning(text, gauge_, domain_, session_, look_));
    return found;
  }
  std::shared_ptr<const LinkField> for_quarks(const std::string& text) {
    auto& found = for_quarks_[text];
    const PrecisionInfo& precision = find_precision("double");
    if (!found)
      found = std::make_shared<const LinkField>(text.empty()
                                                    ? upload(gauge_, domain_, precision, find_storage(storage_))
                                                    : encode_links(*whole(text), precision, find_storage(storage_)));
    return found;
  }

 private:
  const GaugeLinks& gauge_;
  DomainPointer domain_;
  Session& session_;
  std::string storage_;
  std::function<void()> look_;
  std::map<std::string, std::shared_ptr<const LinkField>> whole_, for_quarks_;
};

}  // namespace quarksmith::runs
