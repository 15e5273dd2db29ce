#include "runtime/ranks/padded_lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/kernels/site_draws.hpp"
#include "runtime/lattice/geometry.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "runtime/ranks/site_numbers.hpp"

namespace quarksmith {

namespace {

int even(int n) { return n + n % 2; }

/// Cost of a choice of extents, to be compared: blocks that hold local sites, then all sites.
struct Cost {
  long long blocks, sites;
  friend auto operator<=>(const Cost&, const Cost&) = default;
};
Cost cost_of(const Lattice& local, const Coordinates& padded, int lanes, int reach) {
  LaneTables tables;
  const Geometry g = make_geometry(padded.data(), lanes, tables, reach);
  Cost cost{1, 1};
  for (int mu = 0; mu < directions; ++mu) {
    cost.blocks *= std::min(local.extent(mu), g.extent[mu]);
    cost.sites *= padded[mu];
  }
  return cost;
}

/// Extents of a box: the part, its border, and what directions that are split have more for the sake of lanes.
Coordinates padded_extents(const Domain& local, const BorderDepth& depth, int element_bytes) {
  const Lattice& lattice = local.lattice();
  const int full = local.device().full_lanes(element_bytes);
  Coordinates least = lattice.extent(), most = least;
  for (int mu = 0; mu < directions; ++mu) {
    if (!lattice.split(mu)) continue;
    least[mu] += 2 * even(depth.sites[mu]);
    most[mu] = least[mu] + (full > 1 ? 2 * full : 0);
  }
  std::optional<std::pair<Cost, Coordinates>> best;
  Coordinates padded;
  for (padded[3] = least[3]; padded[3] <= most[3]; padded[3] += 2)
    for (padded[2] = least[2]; padded[2] <= most[2]; padded[2] += 2)
      for (padded[1] = least[1]; padded[1] <= most[1]; padded[1] += 2)
        for (padded[0] = least[0]; padded[0] <= most[0]; padded[0] += 2) {
          const std::pair choice{cost_of(lattice, padded, full, local.reach()), padded};
          if (!best || choice < *best) best = choice;
        }
  return best->second;
}

Memory to_device(const Domain& domain, const std::vector<SitePair>& pairs) {
  Memory memory(domain.device_pointer(), pairs.size() * sizeof(SitePair));
  domain.device().upload(memory.data(), pairs.data(), memory.bytes());
  return memory;
}

/// Slots of the sites of a domain in fields that hold some of them.
class Slots {
 public:
  Slots(const Domain& domain, int element_bytes, Subset subset)
      : layout_(domain.layout(domain.lanes(element_bytes))), subset_(subset) {
    lanes_ = layout_.geometry().lanes;
    const int blocks = layout_.geometry().half_sites;
    padded_ = domain.device().short_vectors() ? (blocks + site_block - 1) / site_block * site_block : blocks;
  }
  /// The first of a site.
  int at(const Coordinates& x) const {
    const auto [block, lane] = layout_.position(x);
    const int before = subset_ == Subset::full ? int(Lattice::parity(x)) * padded_ : 0;
    return (before + block) * lanes_ + lane;
  }
  /// Pairs by which every copy of a site becomes what stands in another slot.
  int copies() const { return (lanes_ + layout_.boxes() - 1) / layout_.boxes(); }
  void take(SitePair* pairs, const Coordinates& x, int from) const {
    const int first = at(x);
    for (int copy = 0; copy < copies(); ++copy) pairs[copy] = {first + copy * layout_.boxes(), from};
  }

 private:
  const LaneLayout& layout_;
  Subset subset_;
  int lanes_, padded_;
};

}  // namespace

// --- the box ---------------------------------------------------------------------------------------------------------

PaddedLattice::PaddedLattice(const Domain& local, const BorderDepth& depth, int element_bytes, std::string_view what,
                             Subset subset)
    : local_(&local), depth_(depth), element_bytes_(element_bytes), subset_(subset) {
  const Lattice& lattice = local.lattice();
  for (int mu = 0; mu < directions; ++mu) {
    if (!lattice.split(mu)) depth_.sites[mu] = 0;
    if (depth_.sites[mu] > lattice.extent(mu))
      throw WrongLattice(
          fmt::format("{} reads {} sites beyond its own along {}, but a part of {} on {} ranks has {}; use another "
                      "--grid or fewer ranks",
                      what, depth_.sites[mu], "xyzt"[mu], lattice.global_text(), lattice.ranks(), lattice.text()));
    offset_[mu] = even(depth_.sites[mu]);
  }
  const Coordinates extents = padded_extents(local, depth_, element_bytes);
  padded_ = local.padded_like(extents, offset_, element_bytes);
  if (padded_ == nullptr)
    padded_ = std::make_shared<Domain>(Lattice(extents), local.device_pointer(), Communicator::self(), local.reach());
  list_sites();
  list_zones();
}

bool PaddedLattice::reaches(const BorderDepth& there, const BorderDepth& depth) const {
  for (int mu = 0; mu < directions; ++mu)
    if (local_->lattice().split(mu) && depth.sites[mu] > there.sites[mu]) return false;
  return there.corners || !depth.corners;
}

bool PaddedLattice::covers(const BorderDepth& depth) const { return reaches(depth_, depth); }

bool PaddedLattice::is_for(const BorderDepth& depth) const {
  for (int mu = 0; mu < directions; ++mu)
    if (local_->lattice().split(mu) && depth.sites[mu] != depth_.sites[mu]) return false;
  return depth_.corners == depth.corners;
}

void PaddedLattice::list_sites() {
  const Lattice& lattice = local_->lattice();
  const Slots here(*local_, element_bytes_, subset_), there(*padded_, element_bytes_, subset_);
  const LaneLayout& layout = padded_->layout(padded_->lanes(element_bytes_));
  std::vector<char> filled(2 * static_cast<std::size_t>(layout.geometry().half_sites), 0);
  const int share = subset_ == Subset::full ? 1 : 2;  // of two neighbours in x one has a parity
  const auto held = static_cast<std::size_t>(lattice.sites() / share);
  std::vector<SitePair> put(held * there.copies()), cut(held * here.copies());
#pragma omp parallel for schedule(static)
  for (long long i = 0; i < lattice.sites(); ++i) {
    const Coordinates x = lattice.coordinates(i);
    Coordinates inside = x;
    for (int mu = 0; mu < directions; ++mu) inside[mu] += offset_[mu];
    if (!holds(subset_, Lattice::parity(x))) continue;
    there.take(&put[static_cast<std::size_t>(i / share) * there.copies()], inside, here.at(x));
    here.take(&cut[static_cast<std::size_t>(i / share) * here.copies()], x, there.at(inside));
    std::atomic_ref(filled[2 * layout.position(inside).block + int(Lattice::parity(x))])
        .store(1, std::memory_order_relaxed);  // a block has several sites
  }
  put_ = to_device(*local_, put);
  cut_ = to_device(*local_, cut);
  if (here.copies() == 1 && there.copies() == 1) find_inside(put);
  if (local_->device().asynchronous()) return;
  for (std::size_t number = 0; number < filled.size(); ++number)
    if (filled[number] != 0) blocks_.push_back(static_cast<int>(number));
}

/// Rows of sites must remain rows, and none be filled up. \param pairs of all sites: slots in the box and in the part
void PaddedLattice::find_inside(const std::vector<SitePair>& pairs) {
  const int lanes = local_->lanes(element_bytes_), row = local_->device().short_vectors() ? site_block : lanes;
  const int half = local_->layout(lanes).geometry().half_sites * lanes;
  if (subset_ != Subset::full || half % row != 0) return;
  std::array<std::optional<int>, 2> before;
  for (const SitePair& pair : pairs) {
    auto& shift = before[pair.from < half ? 0 : 1];
    if (!shift) shift = pair.to - pair.from;
    if (*shift != pair.to - pair.from || *shift % row != 0) return;
  }
  inside_ = Inside{*before[0], *before[1] - *before[0]};
}

void PaddedLattice::restrict(Arguments& a) const {
  if (keeps_sites_at_home()) {
    a.part = local_->layout(local_->lanes(element_bytes_)).geometry();
    std::copy(offset_.begin(), offset_.end(), a.part_begin);
    return;
  }
  a.list = blocks_.data();
  a.list_count = static_cast<int>(blocks_.size());
}

void PaddedLattice::list_zones() {
  const Slots slots(*padded_, element_bytes_, subset_);
  const Lattice& lattice = local_->lattice();
  for (int mu = 0; mu < directions; ++mu) {
    const int depth = depth_.sites[mu], extent = lattice.extent(mu);
    if (depth == 0) continue;
    Coordinates first = offset_, last;
    for (int nu = 0; nu < directions; ++nu) {
      last[nu] = offset_[nu] + lattice.extent(nu);
      if (depth_.corners && nu < mu) first[nu] -= depth_.sites[nu], last[nu] += depth_.sites[nu];
    }
    for (const int side : {0, 1}) {
      first[mu] = side == 0 ? offset_[mu] - depth : offset_[mu] + extent;
      last[mu] = first[mu] + depth;
      std::vector<SitePair> pack, unpack;
      Coordinates x;
      for (x[3] = first[3]; x[3] < last[3]; ++x[3])
        for (x[2] = first[2]; x[2] < last[2]; ++x[2])
          for (x[1] = first[1]; x[1] < last[1]; ++x[1])
            for (x[0] = first[0]; x[0] < last[0]; ++x[0]) {
              if (!holds(subset_, Lattice::parity(x))) continue;
              const int number = static_cast<int>(pack.size());  // one for all copies of a site
              Coordinates y = x;
              y[mu] += side == 0 ? extent : -extent;
              pack.push_back({number, slots.at(y)});
              unpack.resize(unpack.size() + slots.copies());
              slots.take(&unpack[unpack.size() - slots.copies()], x, number);
            }
      zones_.push_back({mu, side, to_device(*local_, pack), to_device(*local_, unpack), static_cast<int>(pack.size())});
    }
  }
}

Operand PaddedLattice::site_numbers() const {
  const Lattice& local = local_->lattice();
  const int lanes = padded_->lanes(element_bytes_);
  if (site_numbers_.bytes() == 0)
    site_numbers_ = numbers_by_slot(*padded_, lanes, [&](const Coordinates& x) {
      Coordinates inside;
      for (int mu = 0; mu < directions; ++mu) {
        inside[mu] = x[mu] - offset_[mu];
        if (inside[mu] < 0 || inside[mu] >= local.extent(mu)) return static_cast<long long>(SiteDraws::nowhere);
      }
      return local.global_index(local.index(inside));
    });
  Operand numbers;
  numbers.data = const_cast<void*>(site_numbers_.data());
  numbers.parity_stride = static_cast<long long>(site_numbers_.bytes() / sizeof(long long) / 2);
  numbers.lanes = lanes;
  return numbers;
}

// --- copies ----------------------------------------------------------------------------------------------------------

void PaddedLattice::move(const StoredSites& to, const StoredSites& from, const Memory& pairs) const {
  local_->device().move_sites(
      {to, from, static_cast<const SitePair*>(pairs.data()), static_cast<int>(pairs.bytes() / sizeof(SitePair))});
}

void PaddedLattice::put(const StoredSites& local, const StoredSites& padded) const {
  ++traffic_.copies;
  move(padded, local, put_);
}
void PaddedLattice::cut(const StoredSites& padded, const StoredSites& local) const {
  ++traffic_.copies;
  move(local, padded, cut_);
}

// --- borders ---------------------------------------------------------------------------------------------------------

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

void PaddedLattice::exchange(const StoredSites& padded) const {
  if (zones_.empty()) return;
  ++traffic_.exchanges;
  const std::span<const Zone> all(zones_);
  if (!depth_.corners) return exchange(all, padded);
  // Corners: each direction carries what the one before it has brought.
  for (std::size_t n = 0; n < all.size(); n += 2) exchange(all.subspan(n, 2), padded);
}

void PaddedLattice::exchange(std::span<const Zone> zones, const StoredSites& padded) const {
  const auto in_zone = [&](std::size_t n, char* memory) { return sites_in_zone(padded, memory, zones[n].count); };
  std::vector<HaloFace> faces;
  for (std::size_t n = 0; n < zones.size(); ++n) {
    faces.push_back({zones[n].mu, zones[n].side, bytes_of_zone(in_zone(n, nullptr))});
    traffic_.bytes += static_cast<long long>(faces.back().bytes);
  }
  local_->halo_exchange().exchange(
      faces, [&](std::size_t n, char* to) { move(in_zone(n, to), padded, zones[n].pack); },
      [&](std::size_t n, char* from) { move(padded, in_zone(n, from), zones[n].unpack); });
}

}  // namespace quarksmith
