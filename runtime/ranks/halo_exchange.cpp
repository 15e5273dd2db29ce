#include "runtime/ranks/halo_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/ranks/halo.hpp"

namespace quarksmith {

char* memory_of(const SharedMemory& shared, const Communicator& communicator, int rank) {
  const std::vector<int>& ranks = communicator.host_ranks();
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  return found == ranks.end() ? nullptr : static_cast<char*>(shared.part(static_cast<int>(found - ranks.begin())));
}

char* HaloExchange::arriving(int rank) const {
  if (!buffers_.peers) return static_cast<char*>(buffers_.own.data());
  return memory_of(*buffers_.shared, domain_->communicator(), rank) + (exchanges_ % 2) * buffers_.bytes;
}

void HaloExchange::make(std::size_t bytes, bool peers) {
  if (buffers_.bytes >= bytes && buffers_.peers == peers) return;
  Device& device = domain_->device();
  Communicator& communicator = domain_->communicator();
  device.synchronize();
  buffers_ = {};
  buffers_.bytes = bytes;
  buffers_.peers = peers;
  if (peers) {
    buffers_.shared = device.allocate_shared(2 * bytes, communicator);
    if (buffers_.shared == nullptr)
      throw OutOfMemory(fmt::format("no memory for borders of {} MiB that ranks share", bytes >> 19));
    communicator.barrier();
  } else {
    buffers_.own = Memory(domain_->device_pointer(), 2 * bytes);
    if (device.asynchronous()) buffers_.host = device.allocate_host(2 * bytes);
  }
}

void HaloExchange::exchange(std::span<const HaloFace> faces, const Copy& pack, const Copy& unpack) {
  const Lattice& lattice = domain_->lattice();
  Device& device = domain_->device();
  Communicator& communicator = domain_->communicator();
  const Policy policy = domain_->halos().policy();
  std::size_t all = 0;
  for (const HaloFace& p : faces) all += aligned_zone(p.bytes);
  make(all, policy == Policy::peer || policy == Policy::fused);
  const Buffers& b = buffers_;
  const bool staged = !b.peers && (device.staged(communicator) || (device.asynchronous() && policy == Policy::staged));
  char* const arrives = arriving(communicator.rank());
  char* const host = static_cast<char*>(b.host.get());
  std::vector<Message> sends, receives;
  std::size_t offset = 0;
  for (std::size_t n = 0; n < faces.size(); ++n) {
    const auto [mu, side, bytes] = faces[n];
    const int source = lattice.rank_at(mu, side == 0 ? -1 : 1), target = lattice.rank_at(mu, side == 0 ? 1 : -1);
    char* const leaving = b.peers ? arriving(target) : arrives + b.bytes;
    pack(n, leaving + offset);
    const int tag = 2 * mu + side;
    sends.push_back({target, tag, (staged ? host + b.bytes : leaving) + offset, bytes});
    receives.push_back({source, tag, (staged ? host : arrives) + offset, bytes});
    offset += aligned_zone(bytes);
  }
  if (staged)
    device.download(host + b.bytes, arrives + b.bytes, offset);
  else
    device.synchronize();
  if (b.peers) {
    communicator.barrier();
  } else {
    communicator.start(sends, receives);
    communicator.finish();
  }
  if (staged) device.upload(arrives, host, offset);
  offset = 0;
  for (std::size_t n = 0; n < faces.size(); ++n) {
    unpack(n, arrives + offset);
    offset += aligned_zone(faces[n].bytes);
  }
  ++exchanges_;
}

}  // namespace quarksmith
