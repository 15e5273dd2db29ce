#include "runtime/ranks/enclosure.hpp"

namespace quarksmith {

Enclosure::Enclosure(const DomainPointer& domain, const BorderDepth& depth, std::string_view what)
    : domain_(domain), part_(domain->bordered(depth, int(sizeof(double)), what, false)) {
  if (part_ != nullptr) domain_ = part_->domain();
}

const LinkField& Enclosure::read(const LinkField& links) const {
  return part_ == nullptr ? links : part_->read(links, true);
}

const LinkField& Enclosure::read(const LinkField& links, const LinkField& copy) const {
  if (part_ == nullptr) return links;
  part_->put(stored_sites(links), stored_sites(copy));
  part_->exchange(stored_sites(copy));
  copy.changed();
  return copy;
}

const LinkField& Enclosure::write(const LinkField& links, bool keep) const {
  if (part_ == nullptr) return links;
  return keep ? part_->read(links, false) : part_->write(links);
}

void Enclosure::written(const LinkField& links) const {
  if (part_ != nullptr) part_->written(links);
}

const LinkField& Enclosure::take(const LinkField& from, const LinkField& links) const {
  if (part_ == nullptr) return from;
  part_->cut(stored_sites(from), stored_sites(links));
  links.changed();
  return links;
}

}  // namespace quarksmith
