// How the border of a part is filled from other ranks.
#include "runtime/ranks/bordered.hpp"
#include "runtime/ranks/mail.hpp"

namespace quarksmith {

StoredSites sites_in_zone(const StoredSites& like, void* memory, int count) {
  const std::size_t rows = static_cast<std::size_t>(count + like.row - 1) / like.row * like.row;
  StoredSites zone = like;
  zone.gap = 0;
  zone.data = static_cast<char*>(memory);
  zone.rhs_bytes = static_cast<long long>(rows) * like.site_bytes();
  zone.norm_rhs_stride = static_cast<long long>(rows);
  if (like.norm != nullptr) zone.norm = reinterpret_cast<float*>(zone.data + zone.rhs_bytes * like.rhs);
  return zone;
}

std::size_t bytes_of_zone(const StoredSites& zone) {
  const std::size_t norms = zone.norm != nullptr ? zone.norm_rhs_stride * sizeof(float) : 0;
  const std::size_t bytes = (zone.rhs_bytes + norms) * zone.rhs;
  return aligned_zone(bytes);
}

void BorderedPart::exchange(const StoredSites& box) const {
  if (zones_.empty()) return;
  ++traffic_.exchanges;
  const std::span<const Zone> all(zones_);
  if (!depth_.corners) return exchange(all, box);
  // Corners: each direction carries what the one before it has brought.
  for (std::size_t n = 0; n < all.size(); n += 2) exchange(all.subspan(n, 2), box);
}

void BorderedPart::exchange(std::span<const Zone> zones, const StoredSites& box) const {
  const auto in_zone = [&](std::size_t n, char* memory) { return sites_in_zone(box, memory, zones[n].count); };
  std::vector<Parcel> parcels;
  for (std::size_t n = 0; n < zones.size(); ++n) {
    parcels.push_back({zones[n].mu, zones[n].side, bytes_of_zone(in_zone(n, nullptr))});
    traffic_.bytes += static_cast<long long>(parcels.back().bytes);
  }
  part_->mail().exchange(
      parcels, [&](std::size_t n, char* to) { move(in_zone(n, to), box, zones[n].pack); },
      [&](std::size_t n, char* from) { move(box, in_zone(n, from), zones[n].unpack); });
}

}  // namespace quarksmith
