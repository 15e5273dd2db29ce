#include "runtime/fields/gauge_links.hpp"

#include <limits>

#include "runtime/fields/gauge.hpp"
#include "runtime/fields/link_check.hpp"

namespace quarksmith {

GaugeLinks::GaugeLinks(HostGauge links)
    : kept_(std::make_shared<Kept>(Kept{.lattice = links.lattice, .colours = links.colours(), .phase = links.phase})) {
  kept_->host = std::make_unique<const HostGauge>(std::move(links));
}

GaugeLinks::GaugeLinks(std::shared_ptr<const LinkField> links, const std::array<Complex64, directions>& phase)
    : kept_(std::make_shared<Kept>(
          Kept{.lattice = links->domain().lattice(), .colours = links->colours(), .phase = phase, .links = links})) {}

const HostGauge& GaugeLinks::host() const {
  if (!kept_->host) {
    HostGauge made = download(*kept_->links);
    made.phase = kept_->phase;
    kept_->host = std::make_unique<const HostGauge>(std::move(made));
  }
  return *kept_->host;
}

std::shared_ptr<const LinkField> GaugeLinks::on(const DomainPointer& domain) const {
  if (kept_->links) return links_on(domain, kept_->links);
  return std::make_shared<const LinkField>(
      upload(*kept_->host, domain, find_precision("double"), full_storage(colours())));
}

double GaugeLinks::bound() const {
  if (!kept_->links) return std::numeric_limits<double>::infinity();
  if (!kept_->bound) kept_->bound = bound_of_deviation(*kept_->links);
  return *kept_->bound;
}

std::string_view default_links(const GaugeLinks& links, Communicator& communicator) {
  return surely_su3(links.bound()) ? compact_storage(links.colours()).name : default_links(links.host(), communicator);
}

bool is_multiple_of_unitary(const GaugeLinks& links, Communicator& communicator) {
  return links.of_device() ? is_multiple_of_unitary(*links.of_device())
                           : is_multiple_of_unitary(links.host(), communicator);
}

}  // namespace quarksmith
