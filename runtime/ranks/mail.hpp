/// \file
/// What the ranks of a lattice give their neighbours outside hopping terms: links and fields at their boundaries.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "runtime/ranks/domain.hpp"

namespace quarksmith {

/// Bytes from one parcel or ghost zone in memory to the next.
inline std::size_t aligned_zone(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The memory of a rank of this host, by its number among all.
char* part_of(const SharedMemory& shared, const Communicator& communicator, int rank);

/// What lies on one side of a part along mu: it comes from the part there, which has it, and goes from this part, which
/// has the same for another, to the one on the opposite side.
struct Parcel {
  int mu;
  int side;  ///< 0: behind the part, 1: ahead of it
  std::size_t bytes;
};

/// Memory for parcels that arrive and leave. With the policies `peer` and `fused` ranks store what leaves into each
/// other's memory, twice as much of it, used in turn; else it travels by messages, from and to the host's memory where
/// MPI does not reach the device's.
class Mail {
 public:
  /// Writes parcel number `n` to memory, or reads it from there; on the device, enqueued.
  using Copy = std::function<void(std::size_t n, char* memory)>;

  explicit Mail(const Domain& domain) : domain_(&domain) {}

  /// Collective; all ranks have the same parcels. \throws OutOfMemory
  void exchange(std::span<const Parcel> parcels, const Copy& pack, const Copy& unpack);

 private:
  struct Buffers {
    std::size_t bytes = 0;  ///< of what arrives in one exchange
    bool peers = false;
    std::unique_ptr<SharedMemory> shared;
    Memory own;
    std::shared_ptr<void> host;  ///< of GPUs whose memory MPI does not read
  };
  void make(std::size_t bytes, bool peers);
  /// Where parcels of a rank arrive.
  char* arriving(int rank) const;

  const Domain* domain_;
  Buffers buffers_;
  unsigned exchanges_ = 0;
};

}  // namespace quarksmith
