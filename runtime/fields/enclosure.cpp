#include "runtime/fields/enclosure.hpp"

#include "runtime/fields/order.hpp"

namespace quarksmith {

Enclosure::Enclosure(const DomainPointer& domain, const BorderDepth& depth, std::string_view what)
    : domain_(domain), padded_(domain->padded(depth, int(sizeof(double)), what, false)) {
  if (padded_ != nullptr) domain_ = padded_->domain();
}

const LinkField& Enclosure::read(const LinkField& links) const {
  return padded_ == nullptr ? links : links.read_in(*padded_, true);
}

const LinkField& Enclosure::read(const LinkField& links, LinkField& copy) const {
  if (padded_ == nullptr) return links;
  padded_->put(stored_sites(links), stored_sites(copy));
  padded_->exchange(stored_sites(copy));
  copy.changed();
  return copy;
}

LinkField* Enclosure::taken_in(LinkField& links) const {
  if (padded_ == nullptr || !padded_->inside()) return nullptr;
  links.read_in(*padded_, true);
  return &links.write_in(*padded_);
}

LinkField& Enclosure::write(LinkField& links, bool keep) const {
  return padded_ == nullptr ? links : links.write_in(*padded_, keep);
}

bool Enclosure::keeps_sites_at_home() const { return padded_ != nullptr && padded_->keeps_sites_at_home(); }

LinkField& Enclosure::add_to(LinkField& links) const {
  return padded_ == nullptr || keeps_sites_at_home() ? links : write(links, true);
}

void Enclosure::added_to(LinkField& links) const {
  if (padded_ != nullptr && !keeps_sites_at_home()) written(links);
}

void Enclosure::cut(const LinkField& from, LinkField& links) const {
  padded_->cut(stored_sites(from), stored_sites(links));
  links.changed();
}

void Enclosure::written(LinkField& links) const {
  if (padded_ != nullptr) links.written_in(*padded_);
}

}  // namespace quarksmith
