#include "runtime/fields/enclosure.hpp"

#include "runtime/fields/order.hpp"

namespace quarksmith {

Enclosure::Enclosure(const DomainPointer& domain, const BorderDepth& depth, std::string_view what)
    : domain_(domain), part_(domain->bordered(depth, int(sizeof(double)), what, false)) {
  if (part_ != nullptr) domain_ = part_->domain();
}

const LinkField& Enclosure::read(const LinkField& links) const {
  return part_ == nullptr ? links : links.read_in(*part_, true);
}

const LinkField& Enclosure::read(const LinkField& links, LinkField& copy) const {
  if (part_ == nullptr) return links;
  part_->put(stored_sites(links), stored_sites(copy));
  part_->exchange(stored_sites(copy));
  copy.changed();
  return copy;
}

LinkField* Enclosure::taken_in(LinkField& links) const {
  if (part_ == nullptr || !part_->inside()) return nullptr;
  links.read_in(*part_, true);
  return &links.write_in(*part_);
}

LinkField& Enclosure::write(LinkField& links, bool keep) const {
  return part_ == nullptr ? links : links.write_in(*part_, keep);
}

bool Enclosure::keeps_sites_at_home() const { return part_ != nullptr && part_->keeps_sites_at_home(); }

LinkField& Enclosure::add_to(LinkField& links) const {
  return part_ == nullptr || keeps_sites_at_home() ? links : write(links, true);
}

void Enclosure::added_to(LinkField& links) const {
  if (part_ != nullptr && !keeps_sites_at_home()) written(links);
}

void Enclosure::cut(const LinkField& from, LinkField& links) const {
  part_->cut(stored_sites(from), stored_sites(links));
  links.changed();
}

void Enclosure::written(LinkField& links) const {
  if (part_ != nullptr) links.written_in(*part_);
}

}  // namespace quarksmith
