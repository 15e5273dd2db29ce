#include "runtime/ranks/domain.hpp"

#include <fmt/format.h>

#include <bit>

#include "runtime/error.hpp"
#include "runtime/lattice/partition.hpp"
#include "runtime/lattice/stored_order.hpp"
#include "runtime/ranks/halo.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "runtime/ranks/padded_lattice.hpp"
#include "runtime/ranks/rank_sums.hpp"
#include "runtime/ranks/site_numbers.hpp"

namespace quarksmith {

Domain::Domain(const Lattice& lattice, std::shared_ptr<Device> device, std::shared_ptr<Communicator> communicator,
               int reach)
    : lattice_(lattice), device_(std::move(device)), communicator_(std::move(communicator)), reach_(reach) {
  require_spread(lattice, *communicator_);
  for (int mu = 0; mu < directions; ++mu)
    if (lattice.extent(mu) < reach)
      throw WrongLattice(fmt::format(
          "lattice {}{}: hops over {} sites need at least {} of them in every direction; use {}", lattice.text(),
          lattice.ranks() > 1 ? fmt::format(" (a part of {})", lattice.global_text()) : "", reach, reach + reach % 2,
          lattice.split(mu) ? "another --grid or fewer ranks" : "a larger lattice"));
  for (int bits = 0, lanes = 1; lanes <= max_lanes; ++bits, lanes *= 2)
    layouts_[bits] = std::make_unique<LaneLayout>(lattice_, lanes, reach);
}

Domain::~Domain() = default;

Halos& Domain::halos() const {
  if (lattice_.ranks() == 1) throw UsageError("a lattice on one rank has no boundaries to exchange");
  if (!halos_) halos_ = std::make_unique<Halos>(*this);
  return *halos_;
}

HaloExchange& Domain::halo_exchange() const {
  if (!halo_exchange_) halo_exchange_ = std::make_unique<HaloExchange>(*this);
  return *halo_exchange_;
}

const RankSums* Domain::rank_sums() const {
  if (communicator_->size() > 1 && !rank_sums_) rank_sums_ = std::make_unique<RankSums>(device_, *communicator_);
  return rank_sums_.get();
}

int Domain::lanes(int element_bytes) const { return device_->full_lanes(element_bytes); }

void Domain::require_reach(const Kernel& kernel) const {
  if (kernel.reach > reach_)
    throw UsageError(
        fmt::format("kernel {} hops over {} sites, the domain was made for {}", kernel.name, kernel.reach, reach_));
}

const LaneLayout& Domain::layout(int lanes) const { return *layouts_.at(std::countr_zero(unsigned(lanes))); }

const Memory& Domain::leaving_slots(int lanes, int mu, int depth) const {
  Memory& slots = leaving_slots_[{lanes, mu, depth}];
  if (slots.bytes() > 0) return slots;
  const Geometry& g = layout(lanes).geometry();
  const auto order = [&](long long blocks) {  // slots do not depend on what a site holds
    return MemoryOrder(device().short_vectors(), 1, 1, 8, blocks, 2, lanes);
  };
  const MemoryOrder here = order(g.half_sites), there = order(static_cast<long long>(depth) * face_blocks(g, mu));
  std::vector<SitePair> pairs;
  for (int slice = 0; slice < depth; ++slice)
    for (const int parity : {0, 1})
      for_each_on_face(g, parity, mu, g.extent[mu] - 1 - slice, [&](int block, int index) {
        for (int lane = 0; lane < lanes; ++lane)
          pairs.push_back(
              {slot_of(there, parity, slice * face_blocks(g, mu) + index, lane), slot_of(here, parity, block, lane)});
      });
  slots = Memory(device_, pairs.size() * sizeof(SitePair));
  device().upload(slots.data(), pairs.data(), slots.bytes());
  return slots;
}

const Memory& Domain::site_numbers(int lanes) const {
  Memory& numbers = site_numbers_[lanes];
  if (numbers.bytes() == 0)
    numbers =
        numbers_by_slot(*this, lanes, [&](const Coordinates& x) { return lattice_.global_index(lattice_.index(x)); });
  return numbers;
}

DomainPointer Domain::padded_like(const Coordinates& extents, const Coordinates& offset, int element_bytes) const {
  for (const auto& b : padded_)
    if (b->domain()->lattice().extent() == extents && b->offset() == offset && b->element_bytes() == element_bytes)
      return b->domain();
  return nullptr;
}

const PaddedLattice* Domain::padded(const BorderDepth& depth, int element_bytes, std::string_view what,
                                    bool shared) const {
  if (lattice_.ranks() == 1) return nullptr;
  bool inside = true;
  for (int mu = 0; mu < directions; ++mu) inside = inside && (!lattice_.split(mu) || depth.sites[mu] == 0);
  if (inside) return nullptr;
  // One that others use, too, holds copies of links already: the deepest.
  const PaddedLattice* found = nullptr;
  for (const auto& b : padded_)
    if (b->element_bytes() == element_bytes && b->covers(depth) && (shared || b->is_for(depth)) &&
        (found == nullptr || b->covers(found->depth())))
      found = b.get();
  if (found != nullptr) return found;
  padded_.push_back(std::make_unique<PaddedLattice>(*this, depth, element_bytes, what));
  return padded_.back().get();
}

const PaddedLattice* Domain::padded_in(const Domain& padded) const {
  for (const auto& b : padded_)
    if (b->domain().get() == &padded) return b.get();
  return nullptr;
}

BorderTraffic Domain::border_traffic() const {
  BorderTraffic sum;
  for (const auto& b : padded_) {
    sum.exchanges += b->traffic().exchanges;
    sum.bytes += b->traffic().bytes;
    sum.copies += b->traffic().copies;
  }
  return sum;
}

}  // namespace quarksmith
