// How the border of a part is filled from other ranks.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/ranks/bordered.hpp"
#include "runtime/error.hpp"
#include "runtime/ranks/halo.hpp"

namespace quarksmith {
namespace {

constexpr std::size_t alignment = 256;  // of zones

}  // namespace

StoredSites sites_in_zone(const StoredSites& like, void* memory, int count) {
  const std::size_t rows = static_cast<std::size_t>(count + like.row - 1) / like.row * like.row;
  StoredSites zone = like;
  zone.data = static_cast<char*>(memory);
  zone.rhs_bytes = static_cast<long long>(rows) * like.site_bytes();
  zone.norm_rhs_stride = static_cast<long long>(rows);
  if (like.norm != nullptr) zone.norm = reinterpret_cast<float*>(zone.data + zone.rhs_bytes * like.rhs);
  return zone;
}

std::size_t bytes_of_zone(const StoredSites& zone) {
  const std::size_t norms = zone.norm != nullptr ? zone.norm_rhs_stride * sizeof(float) : 0;
  const std::size_t bytes = (zone.rhs_bytes + norms) * zone.rhs;
  return (bytes + alignment - 1) / alignment * alignment;
}

char* BorderedPart::Buffers::arriving(const Communicator& communicator, int rank) const {
  if (!peers) return static_cast<char*>(own.data());
  const std::vector<int>& ranks = communicator.host_ranks();
  const auto number = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
  return static_cast<char*>(shared->part(static_cast<int>(number))) + (exchanges % 2) * bytes;
}

BorderedPart::Buffers& BorderedPart::buffers(std::size_t bytes, bool peers) const {
  if (buffers_ != nullptr && buffers_->bytes >= bytes && buffers_->peers == peers) return *buffers_;
  Device& device = part_->device();
  Communicator& communicator = part_->communicator();
  device.synchronize();
  buffers_.reset();
  auto made = std::make_unique<Buffers>();
  made->bytes = bytes;
  made->peers = peers;
  if (peers) {
    made->shared = device.allocate_shared(2 * bytes, communicator);
    if (made->shared == nullptr)
      throw OutOfMemory(fmt::format("no memory for borders of {} MiB that ranks share", bytes >> 19));
    communicator.barrier();
  } else {
    made->own = Memory(part_->device_pointer(), 2 * bytes);
    if (device.asynchronous()) made->host = device.allocate_host(2 * bytes);
  }
  buffers_ = std::move(made);
  return *buffers_;
}

void BorderedPart::exchange(const StoredSites& box) const {
  if (zones_.empty()) return;
  ++traffic_.exchanges;
  // Corners: each direction carries what the one before it has brought.
  std::vector<std::span<const Zone>> steps;
  const std::span<const Zone> all(zones_);
  if (depth_.corners)
    for (std::size_t n = 0; n < all.size(); n += 2) steps.push_back(all.subspan(n, 2));
  else
    steps.push_back(all);
  std::size_t most = 0;
  for (const auto& zones : steps) {
    std::size_t bytes = 0;
    for (const Zone& zone : zones) bytes += bytes_of_zone(sites_in_zone(box, nullptr, zone.count));
    most = std::max(most, bytes);
  }
  const Policy policy = part_->halos().policy();
  Buffers& memory = buffers(most, policy == Policy::peer || policy == Policy::fused);
  for (const auto& zones : steps) exchange(zones, box, memory);
}

void BorderedPart::exchange(std::span<const Zone> zones, const StoredSites& box, Buffers& b) const {
  const Lattice& lattice = part_->lattice();
  Device& device = part_->device();
  Communicator& communicator = part_->communicator();
  const bool staged =
      !b.peers && (device.staged(communicator) || (device.asynchronous() && part_->halos().policy() == Policy::staged));
  char* const arriving = b.arriving(communicator, communicator.rank());
  char* const host = static_cast<char*>(b.host.get());
  std::vector<Message> sends, receives;
  std::size_t offset = 0;
  for (const Zone& zone : zones) {
    // What lies behind a part comes from there, and goes from this part to the one ahead.
    const int source = lattice.part_at(zone.mu, zone.side == 0 ? -1 : 1);
    const int target = lattice.part_at(zone.mu, zone.side == 0 ? 1 : -1);
    char* const leaving = b.peers ? b.arriving(communicator, target) : arriving + b.bytes;
    const StoredSites to = sites_in_zone(box, leaving + offset, zone.count);
    move(to, box, zone.pack);
    const std::size_t bytes = bytes_of_zone(to);
    const int tag = 2 * zone.mu + zone.side;
    traffic_.bytes += static_cast<long long>(bytes);
    sends.push_back({target, tag, (staged ? host + b.bytes : leaving) + offset, bytes});
    receives.push_back({source, tag, (staged ? host : arriving) + offset, bytes});
    offset += bytes;
  }
  if (staged)
    device.download(host + b.bytes, arriving + b.bytes, offset);
  else
    device.synchronize();
  if (b.peers) {
    communicator.barrier();
  } else {
    communicator.start(sends, receives);
    communicator.finish();
  }
  if (staged) device.upload(arriving, host, offset);
  offset = 0;
  for (const Zone& zone : zones) {
    const StoredSites from = sites_in_zone(box, arriving + offset, zone.count);
    move(box, from, zone.unpack);
    offset += bytes_of_zone(from);
  }
  ++b.exchanges;
}

}  // namespace quarksmith
