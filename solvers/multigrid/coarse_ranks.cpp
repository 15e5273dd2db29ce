#include "solvers/multigrid/coarse_ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.hpp"
#include "runtime/fields/order.hpp"
#include "solvers/multigrid/parameters.hpp"
#include "solvers/multigrid/places.hpp"

namespace quarksmith {
namespace {

SpinorField field_on(const DomainPointer& domain, const SpinorField& like, Subset subset, int rhs) {
  return {domain, like.precision(), subset, rhs, {}, like.slices()};
}

/// Slices of all right-hand sides of some sites.
StoredSites stored_slices(const SpinorField& field, Subset subset) {
  const SpinorField slices = field.by_slice();
  StoredSites sites = stored_sites(order_of(slices), operand_on(slices, subset), slices.precision().word_bytes);
  sites.rhs = slices.rhs();
  return sites;
}

}  // namespace

std::string misfit_of(const Coordinates& block, const Lattice& fine) {
  const std::string blocks = fmt::format("blocks of {}", fmt::join(block, "x"));
  for (int mu = 0; mu < directions; ++mu)
    if (block[mu] < 1 || fine.global_extent(mu) % (2 * block[mu]) != 0)
      return fmt::format("{} cut {} into no lattice of even extents; use others", blocks, fine.global_text());
  for (int mu = 0; mu < directions; ++mu)
    if (fine.extent(mu) % block[mu] != 0)
      return fmt::format("{} do not fit into {}, which a rank has of {}; use others, or another --grid", blocks,
                         fine.text(), fine.global_text());
  return {};
}

Lattice blocks_of(const Lattice& fine, const Coordinates& block, int vectors, Parts parts) {
  if (const std::string misfit = misfit_of(block, fine); !misfit.empty()) throw UsageError("multigrid: " + misfit);
  Coordinates global, position;
  bool even = true;
  for (int mu = 0; mu < directions; ++mu) {
    global[mu] = fine.global_extent(mu) / block[mu];
    position[mu] = fine.origin(mu) / fine.extent(mu);
    even = even && fine.extent(mu) % (2 * block[mu]) == 0;
  }
  const Lattice whole(global);
  if (parts == Parts::gathered && (!even || solved_directly(whole.sites(), vectors))) return whole;
  return {global, fine.grid(), position};
}

long long neighbour_at(const Lattice& lattice, long long site, const Coordinates& step) {
  for (int mu = 0; mu < directions; ++mu)
    if (step[mu] != 0) site = lattice.neighbour(site, mu, step[mu]);
  return site;
}

int directions_of(const Coordinates& step) { return directions - static_cast<int>(std::ranges::count(step, 0)); }

CoarseBorder::CoarseBorder(const SpinorField& like, Subset subset, bool corners)
    : domain_(like.domain_pointer()),
      subset_(subset),
      padded_(*domain_, {{1, 1, 1, 1}, corners}, like.precision().word_bytes, "multigrid", subset),
      copy_(field_on(padded_.domain(), like, subset, 1)) {}

long long CoarseBorder::neighbour(long long site, const Coordinates& step) const {
  Coordinates x = domain_->lattice().coordinates(site);
  for (int nu = 0; nu < directions; ++nu) x[nu] += padded_.offset()[nu];
  const Lattice& padded = padded_.domain()->lattice();
  return neighbour_at(padded, padded.index(x), step);
}

void CoarseBorder::reserve(int rhs) const {
  if (copy_.rhs() < rhs) copy_ = field_on(padded_.domain(), copy_, subset_, rhs);
}

SpinorField CoarseBorder::read(const SpinorField& in) const {
  reserve(in.rhs());
  SpinorField copy = copy_.columns(0, in.rhs());
  const StoredSites padded = stored_slices(copy, subset_);
  padded_.put(stored_slices(in, subset_), padded);
  padded_.exchange(padded);
  return copy;
}

Gathering::Gathering(const SpinorField& whole, std::shared_ptr<Communicator> ranks, const std::vector<long long>& mine)
    : domain_(whole.domain_pointer()), ranks_(std::move(ranks)), count_(static_cast<int>(mine.size())) {
  const SpinorField slices = whole.by_slice();
  const MemoryOrder order = order_of(slices);
  const LaneLayout& layout = domain_->layout(whole.lanes());
  one_ = stored_sites(slices.columns(0, whole.slices()));
  std::vector<long long> all(mine.size() * static_cast<std::size_t>(ranks_->size()));
  ranks_->all_gather(mine.data(), mine.size() * sizeof(mine[0]), all.data());
  for (int rank = 0; rank < ranks_->size(); ++rank) {
    std::vector<SitePair> pack, unpack;
    for (int n = 0; n < count_; ++n) {
      const Coordinates x = domain_->lattice().coordinates(all[static_cast<std::size_t>(rank) * mine.size() + n]);
      const auto [block, lane] = layout.position(x);
      pack.push_back({n, slot_of(order, int(Lattice::parity(x)), block, lane)});
      for (int copy = lane; copy < whole.lanes(); copy += layout.boxes())
        unpack.push_back({slot_of(order, int(Lattice::parity(x)), block, copy), n});
    }
    if (rank == ranks_->rank()) pack_ = on_device(domain_->device_pointer(), pack);
    unpack_.push_back(on_device(domain_->device_pointer(), unpack));
  }
}

void Gathering::reserve(int rhs) const {
  StoredSites sites = one_;
  sites.rhs *= rhs;
  const std::size_t bytes = bytes_of_zone(sites_in_zone(sites, nullptr, count_)),
                    size = static_cast<std::size_t>(ranks_->size());
  if (leaving_.bytes() >= bytes) return;
  leaving_ = Memory(domain_->device_pointer(), bytes);
  all_ = Memory(domain_->device_pointer(), bytes * size);
  if (domain_->device().asynchronous()) host_ = domain_->device().allocate_host(bytes * (1 + size));
}

void Gathering::complete(SpinorField& field) const {
  reserve(field.rhs());
  Device& device = domain_->device();
  const SpinorField slices = field.by_slice();
  const StoredSites sites = stored_sites(slices), mine = sites_in_zone(sites, leaving_.data(), count_);
  const std::size_t bytes = bytes_of_zone(mine);
  const auto move = [&](const StoredSites& to, const StoredSites& from, const Memory& pairs) {
    device.move_sites(
        {to, from, static_cast<const SitePair*>(pairs.data()), static_cast<int>(pairs.bytes() / sizeof(SitePair))});
  };
  move(mine, sites, pack_);
  if (device.asynchronous()) {
    char* const host = static_cast<char*>(host_.get());
    device.download(host, leaving_.data(), bytes);
    ranks_->all_gather(host, bytes, host + bytes);
    device.upload(all_.data(), host + bytes, bytes * static_cast<std::size_t>(ranks_->size()));
  } else {
    ranks_->all_gather(leaving_.data(), bytes, all_.data());
  }
  for (int rank = 0; rank < ranks_->size(); ++rank)
    if (rank != ranks_->rank())
      move(sites,
           sites_in_zone(sites, static_cast<char*>(all_.data()) + bytes * static_cast<std::size_t>(rank), count_),
           unpack_[static_cast<std::size_t>(rank)]);
}

}  // namespace quarksmith
