// Links in the box of a part: copies with a border, or the links themselves.
#include <optional>
#include <utility>

#include "runtime/fields/order.hpp"
#include "runtime/ranks/bordered.hpp"

namespace quarksmith {

/// What a LinkField keeps of itself in a box.
struct BorderedLinks {
  const BorderedPart* part;
  LinkField links;
  bool inside = false;                ///< whether the sites of the part hold what the links are now
  std::optional<BorderDepth> border;  ///< the depth to which the border does
};

const LinkField& BorderedPart::read(const LinkField& links, bool beyond) const {
  BorderedLinks& copy = copy_of(links);
  const StoredSites box = stored_sites(copy.links);
  if (!copy.inside && links.home_ != &copy) put(stored_sites(links), box);
  copy.inside = true;
  move_into(copy, links);
  if (beyond && !(copy.border && reaches(*copy.border, depth_))) {
    exchange(box);
    copy.border = depth_;
  }
  copy.links.set_scale(links.scale());
  return copy.links;
}

LinkField& BorderedPart::write(LinkField& links, bool keep) const {
  if (keep) read(links, false);
  return copy_of(links).links;
}

/// The links lie in the box from now on, if they can, where they are already; their own memory goes.
void BorderedPart::move_into(BorderedLinks& copy, const LinkField& links) const {
  if (!inside_ || links.home_ != nullptr || (links.away_ != nullptr && links.away_ != &copy)) return;
  links.away_ = nullptr;
  links.home_ = &copy;
  links.data_ = Memory();
}

/// They come home when they are asked for there: often the next expression reads them here.
void BorderedPart::written(LinkField& links) const {
  BorderedLinks& copy = copy_of(links);
  links.changed();
  if (links.home_ == &copy) return;
  copy.inside = true;
  links.away_ = &copy;
  move_into(copy, links);
}

BorderedLinks& BorderedPart::copy_of(const LinkField& links) const {
  for (const auto& copy : links.bordered_)
    if (copy->part->box_ == box_) return *copy;
  auto& copy = links.bordered_.emplace_back(std::make_shared<BorderedLinks>(
      BorderedLinks{this, LinkField(box_, links.precision(), links.storage()), {}, {}}));
  copy->links.fill(0xff);  // what lies outside the border is never to be mistaken for links
  return *copy;
}

void LinkField::bring_home() const {
  const BorderedLinks& from = *std::exchange(away_, nullptr);
  from.part->cut(stored_sites(from.links), stored_sites(*this));
}

Operand LinkField::operand_in_box() const {
  const BorderedPart::Inside& inside = *home_->part->inside();
  const MemoryOrder order = order_of(*this);
  Operand f = home_->links.operand();
  f.data = static_cast<char*>(f.data) + inside.first * order.site_words() * precision_->word_bytes;
  f.parity_stride = order.parity_words() + inside.second * order.site_words();
  return f;
}

void LinkField::stand_alone() const {
  if (home_ == nullptr) return;
  BorderedLinks& from = *std::exchange(home_, nullptr);
  data_ = Memory(domain_->device_pointer(), static_cast<std::size_t>(order_of(*this).words()) * precision_->word_bytes);
  from.part->cut(stored_sites(from.links), stored_sites(*this));
  from.inside = true;
}

void LinkField::fill(int byte) {
  if (home_ != nullptr)
    home_->links.fill(byte);
  else
    domain_->device().fill(data_.data(), byte, data_.bytes());
  changed();
}

void LinkField::copy_from(const LinkField& other) {
  if (precision_ != other.precision_ || storage_ != other.storage_ || lanes_ != other.lanes_ ||
      depth_ != other.depth_ || domain_->lattice().extent() != other.domain_->lattice().extent())
    throw UsageError("copy between link fields of different kinds");
  stand_alone();
  other.stand_alone();
  domain_->device().copy(data_.data(), other.data_.data(), data_.bytes());
  scale_ = other.scale_;
  changed();
}

void LinkField::changed() {
  away_ = nullptr;
  ghosts_are_old_ = true;
  for (const auto& copy : bordered_) {
    copy->inside = false;
    copy->border.reset();
  }
}

}  // namespace quarksmith
