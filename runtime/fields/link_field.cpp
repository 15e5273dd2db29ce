#include "runtime/fields/link_field.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/fields/order.hpp"
#include "runtime/ranks/halo.hpp"
#include "runtime/ranks/halo_exchange.hpp"

namespace quarksmith {

/// Links in the box of a part: a copy with a border, or the links themselves.
struct LinkField::PaddedCopy {
  const PaddedLattice* padded;
  LinkField links;
  bool inside = false;                     ///< whether the sites of the part hold what the links are now
  std::optional<BorderDepth> border = {};  ///< the depth to which the border does
};

/// The links are in one of three places: in memory of their own; in that of a box alone (`home`); or in a box, from
/// which they come when they are asked for elsewhere (`newest`), since often the next expression reads them there.
struct LinkField::Places {
  explicit Places(const LinkField& like)
      : domain(like.domain_pointer()),
        bytes(static_cast<std::size_t>(order_of(like).words()) * like.precision().word_bytes) {
    allocate();
  }
  void allocate() { own = Memory(domain->device_pointer(), bytes); }
  Operand operand(const LinkField& links) const {
    const MemoryOrder order = order_of(links);
    Operand f;
    f.data = own.data();
    f.parity_stride = order.parity_words();
    f.lanes = links.lanes();
    if (home == nullptr) return f;
    const PaddedLattice::Inside& inside = *home->padded->inside();
    f = home->links.operand();
    f.data = static_cast<char*>(f.data) + inside.first * order.site_words() * links.precision().word_bytes;
    f.parity_stride = order.parity_words() + inside.second * order.site_words();
    return f;
  }
  StoredSites stored(const LinkField& links) const {
    return stored_sites(order_of(links), operand(links), links.precision().word_bytes);
  }
  /// Moves the links into this copy for good, where the layout allows; their own memory is freed.
  void move_into(PaddedCopy& copy) {
    if (!copy.padded->inside() || home != nullptr || (newest != nullptr && newest != &copy)) return;
    newest = nullptr;
    home = &copy;
    own = Memory();
  }
  void bring_home(const LinkField& links) {
    if (newest == nullptr) return;
    const PaddedCopy& from = *std::exchange(newest, nullptr);
    from.padded->cut(stored_sites(from.links), stored(links));
  }
  void leave_padded(const LinkField& links) {
    if (home == nullptr) return;
    PaddedCopy& from = *std::exchange(home, nullptr);
    allocate();
    from.padded->cut(stored_sites(from.links), stored(links));
    from.inside = true;
  }
  void forget_copies() {
    newest = nullptr;
    ghosts_are_old = true;
    for (const auto& copy : copies) {
      copy->inside = false;
      copy->border.reset();
    }
  }

  DomainPointer domain;
  std::size_t bytes;
  Memory own;
  std::vector<std::unique_ptr<PaddedCopy>> copies;  ///< made by expressions that read beyond the part
  const PaddedCopy* newest = nullptr;
  PaddedCopy* home = nullptr;
  std::array<Memory, directions> ghosts;
  bool ghosts_are_old = true;
};

LinkField::LinkField(DomainPointer domain, const PrecisionInfo& precision, const StorageInfo& storage, int depth)
    : domain_(std::move(domain)),
      precision_(&precision),
      storage_(&storage),
      lanes_(domain_->lanes(precision.element_bytes)),
      depth_(depth) {
  if (precision.links != precision.name)
    throw UsageError(fmt::format("links cannot be stored as {}; use {}", precision.name, precision.links));
  places_ = std::make_unique<Places>(*this);
  // Kernels leave what fills the last blocks as it is; the largest number of a field is sought in all of it.
  if (order_of(*this).padded() > order_of(*this).blocks) fill(0);
}

LinkField::~LinkField() = default;
LinkField::LinkField(LinkField&&) noexcept = default;
LinkField& LinkField::operator=(LinkField&&) noexcept = default;

Operand LinkField::operand() const {
  places_->bring_home(*this);
  return places_->operand(*this);
}

const void* LinkField::memory() const { return places_->operand(*this).data; }

void LinkField::stand_alone() const { places_->leave_padded(*this); }

void LinkField::changed() { places_->forget_copies(); }

void LinkField::fill(int byte) {
  if (places_->home != nullptr)
    places_->home->links.fill(byte);
  else
    domain_->device().fill(places_->own.data(), byte, places_->own.bytes());
  changed();
}

void LinkField::copy_from(const LinkField& other) {
  if (precision_ != other.precision_ || storage_ != other.storage_ || lanes_ != other.lanes_ ||
      depth_ != other.depth_ || domain_->lattice().extent() != other.domain_->lattice().extent() ||
      places_->bytes != other.places_->bytes)  // borders of another reach
    throw UsageError("copy between link fields of different kinds");
  stand_alone();
  other.stand_alone();
  domain_->device().copy(places_->own.data(), other.places_->own.data(), places_->bytes);
  scale_ = other.scale_;
  changed();
}

// --- the box of a part -----------------------------------------------------------------------------------------------

LinkField::PaddedCopy& LinkField::copy_in(const PaddedLattice& padded) const {
  for (const auto& copy : places_->copies)
    if (copy->padded->domain() == padded.domain()) return *copy;
  auto& copy = places_->copies.emplace_back(
      std::make_unique<PaddedCopy>(PaddedCopy{&padded, LinkField(padded.domain(), *precision_, *storage_)}));
  copy->links.fill(0xff);  // what lies outside the border is never to be mistaken for links
  return *copy;
}

const LinkField& LinkField::read_in(const PaddedLattice& padded, bool beyond) const {
  PaddedCopy& copy = copy_in(padded);
  const StoredSites around = stored_sites(copy.links);
  if (!copy.inside && places_->home != &copy) padded.put(stored_sites(*this), around);
  copy.inside = true;
  places_->move_into(copy);
  if (beyond && !(copy.border && padded.reaches(*copy.border, padded.depth()))) {
    padded.exchange(around);
    copy.border = padded.depth();
  }
  copy.links.set_scale(scale_);
  return copy.links;
}

LinkField& LinkField::write_in(const PaddedLattice& padded, bool keep) {
  if (keep) read_in(padded, false);
  return copy_in(padded).links;
}

void LinkField::written_in(const PaddedLattice& padded) {
  PaddedCopy& copy = copy_in(padded);
  changed();
  if (places_->home == &copy) return;
  copy.inside = true;
  places_->newest = &copy;
  places_->move_into(copy);
}

// --- links of the parts behind ---------------------------------------------------------------------------------------

namespace {

/// Memory order of the ghost links of direction mu.
MemoryOrder ghost_order(const LinkField& links, int mu) {
  const Domain& domain = links.domain();
  return {domain.device().short_vectors(),
          link_words(links),
          1,
          links.precision().word_bytes,
          links.depth() * face_blocks(domain.layout(links.lanes()).geometry(), mu),
          2,
          links.lanes()};
}

}  // namespace

Operand LinkField::ghosts(int mu) const {
  Operand f;
  if (!domain_->lattice().split(mu)) return f;
  if (places_->ghosts_are_old) exchange_ghosts();
  f.data = places_->ghosts[mu].data();
  f.parity_stride = ghost_order(*this, mu).parity_words();
  f.lanes = lanes_;
  return f;
}

/// Faces are gathered where the links are: the rest of the field stays there.
void LinkField::exchange_ghosts() const {
  places_->ghosts_are_old = false;
  std::vector<HaloFace> faces;
  for (int mu = 0; mu < directions; ++mu)
    if (domain_->lattice().split(mu))
      faces.push_back({mu, 0, static_cast<std::size_t>(ghost_order(*this, mu).words()) * precision_->word_bytes});
  if (faces.empty()) return;
  const auto gather = [&](std::size_t n, char* memory) {
    const int mu = faces[n].mu;
    const Memory& slots = domain_->leaving_slots(lanes_, mu, depth_);
    Operand packed;
    packed.data = memory;
    const StoredSites to = stored_sites(ghost_order(*this, mu), packed, precision_->word_bytes);
    domain_->device().move_sites({to, group_of(stored_sites(*this), mu, to.pieces),
                                  static_cast<const SitePair*>(slots.data()),
                                  static_cast<int>(slots.bytes() / sizeof(SitePair))});
  };
  const auto keep = [&](std::size_t n, const char* memory) {
    Memory& ghosts = places_->ghosts[faces[n].mu];
    if (ghosts.bytes() == 0) ghosts = Memory(domain_->device_pointer(), faces[n].bytes);
    domain_->device().copy(ghosts.data(), memory, faces[n].bytes);
  };
  domain_->halo_exchange().exchange(faces, gather, keep);
}

}  // namespace quarksmith
