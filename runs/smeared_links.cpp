#include "runs/smeared_links.hpp"

#include <fmt/format.h>

#include "runtime/fields/gauge.hpp"

namespace quarksmith::runs {

void warn_of_roughening(const std::string& how, double before, double after, Session& session) {
  constexpr double rounding = 1e-9;
  if (after >= before - rounding) return;
  session.warn_once(how, fmt::format("it has made the links rougher: plaquette {:.6f} before, {:.6f} after; smear less "
                                     "strongly, or in fewer steps",
                                     before, after));
}

LinkField smear_with_warning(const std::string& text, const HostGauge& gauge, const DomainPointer& domain,
                             Session& session, const std::function<void()>& look) {
  LinkField smeared = smear_on_device(link_smearing_of(text), gauge, domain, look);
  warn_of_roughening(text, gauge_averages(gauge, domain).plaquette, gauge_averages(smeared).plaquette, session);
  return smeared;
}

}  // namespace quarksmith::runs
