/// \file
/// The links of a configuration on the device, unsmeared and smeared.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runs/session.hpp"
#include "solvers/gauge/link_smearing.hpp"

namespace quarksmith::runs {

/// The links of a configuration by the text of their smearing, such as `stout:RHO:STEPS`; made when first asked for.
class SmearedLinks {
 public:
  /// \param look is called before each step, and may throw to end it.
  SmearedLinks(const HostGauge& gauge, DomainPointer domain, Session& session, std::function<void()> look)
      : gauge_(gauge),
        domain_(std::move(domain)),
        storage_(default_links(gauge, session.ranks())),
        look_(std::move(look)) {}

  /// Links stored with all reals, as actions take them. \param text of the smearing; empty: none.
  std::shared_ptr<const LinkField> whole(const std::string& text) {
    auto& found = whole_[text];
    if (!found)
      found = std::make_shared<const LinkField>(
          text.empty() ? upload(gauge_, domain_, find_precision("double"), full_storage(gauge_.colours()))
                       : smear_on_device(link_smearing_of(text), gauge_, domain_, look_));
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
  const HostGauge& gauge_;
  DomainPointer domain_;
  std::string storage_;
  std::function<void()> look_;
  std::map<std::string, std::shared_ptr<const LinkField>> whole_, for_quarks_;
};

}  // namespace quarksmith::runs
