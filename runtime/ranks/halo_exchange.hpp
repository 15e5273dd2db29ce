/// \file
/// Halo exchange of links and fields outside hopping terms.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "runtime/ranks/domain.hpp"

namespace quarksmith {

/// Bytes of a zone, rounded up to where the next one begins in memory.
inline std::size_t aligned_zone(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The memory of a rank, by its number among all ranks; null if it is on another host.
char* memory_of(const SharedMemory& shared, const Communicator& communicator, int rank);

/// Data of one face along mu: received from the neighbour on `side`, while this rank sends the same face of its own to
/// the opposite neighbour.
struct HaloFace {
  int mu;
  int side;  ///< 0: behind the local lattice, 1: ahead of it
  std::size_t bytes;
};

/// Exchanges faces with the neighbours. With the policies `peer` and `fused` ranks store into each other's memory, two
/// buffers used in turn; else MPI messages carry them, through host memory where MPI cannot reach the device's.
class HaloExchange {
 public:
  /// Packs face number `n` into memory, or unpacks it from there; enqueued on the device.
  using Copy = std::function<void(std::size_t n, char* memory)>;

  explicit HaloExchange(const Domain& domain) : domain_(&domain) {}

  /// Collective; all ranks pass the same faces. \throws OutOfMemory
  void exchange(std::span<const HaloFace> faces, const Copy& pack, const Copy& unpack);

 private:
  struct Buffers {
    std::size_t bytes = 0;  ///< bytes that arrive in one exchange
    bool peers = false;
    std::unique_ptr<SharedMemory> shared;
    Memory own;
    std::shared_ptr<void> host;  ///< host memory, for GPUs whose memory MPI does not read
  };
  void make(std::size_t bytes, bool peers);
  /// Where a rank receives.
  char* arriving(int rank) const;

  const Domain* domain_;
  Buffers buffers_;
  unsigned exchanges_ = 0;
};

}  // namespace quarksmith
