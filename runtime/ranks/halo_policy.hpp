/// \file
/// The ways to exchange the halos of hopping terms, one class each; used by runtime/ranks/halo.cpp.
#pragma once

#include "runtime/ranks/halo.hpp"

namespace quarksmith {

/// Whether ranks store into each other's memory by this policy.
inline bool stores(Policy policy) { return policy >= Policy::peer && policy <= Policy::mixed; }

/// Offset of the zone of one hop among those of a rank, and its bytes: words, then norms.
struct Place {
  std::size_t offset = 0, bytes = 0;
};

/// Halo zones of one kind of spinors.
struct Halos::Zones {
  int capacity = 0;  ///< right-hand sides
  int lanes = 1;
  std::size_t bytes = 0;                 ///< of all zones of a rank, without the second buffer
  std::unique_ptr<SharedMemory> shared;  ///< into which neighbours store: signals, then the arriving zones twice
  Memory own;                            ///< for messages: arriving zones twice, as kernels find them, leaving ones
  std::unique_ptr<SymmetricMemory>
      symmetric;                      ///< the same for puts: arriving zones are in turn the first or the second
  std::shared_ptr<void> host;         ///< in host memory arriving and leaving ones
  int sent = 0;                       ///< bits of hops (2 mu + backward) whose spinors go to neighbours by messages
  char* arriving = nullptr;           ///< where the shared zones of this rank begin
  char* leaving[directions][2] = {};  ///< and those into which it packs
  int placed = 0;                     ///< right-hand sides for which halo and place are
  Halo halo;
  Place place[directions][2];
  std::vector<int> interior[2];  ///< blocks of a parity and one number more, for kernels of the CPU
  Memory lists[2];
  int waiting_count[2] = {};   ///< of the boundary, whose list begins with them: sites that need what messages bring
  std::uint64_t exchange = 0;  ///< exchanges so far: of puts, and of peers on the CPU

  char* incoming() const { return symmetric ? symmetric->data() : static_cast<char*>(own.data()); }
  char* sending() const { return incoming() + 2 * bytes; }
  /// Bits of hops that need what messages bring: those towards ranks to which messages go.
  int received() const { return (sent & 0x55) << 1 | (sent & 0xaa) >> 1; }
  /// The zones of some hops, adjacent ones together.
  std::vector<Place> places(int hops) const;
  /// Allocates memory that neighbours store into, and maps theirs.
  void share(const Domain& domain);
  /// Computes the places of zones for `rhs` right-hand sides, one after the other.
  void place_zones(const Domain& domain, const Kernel& kernel, int rhs);
  void list_blocks(const Domain& domain, const Geometry& geometry, int reach);
  /// Restricts a kernel of the CPU to some blocks.
  void choose(Arguments& a, const HaloWork& work) const;
  /// Messages to and from neighbours, the zones beginning at `arriving` and `leaving`.
  void messages(const Lattice& lattice, char* arriving, char* leaving, std::vector<Message>& sends,
                std::vector<Message>& receives) const;
};

/// Applies the part of a hopping kernel that `work` names, on either kind of device; `a` has its halo.
void run_part(const Domain& domain, const Kernel& kernel, Arguments a, const Halos::Zones& zones, const HaloWork& work);

/// Applies a hopping term on all ranks by one policy.
class HaloPolicy {
 public:
  virtual ~HaloPolicy() = default;
  static std::unique_ptr<HaloPolicy> make(Policy policy);
  /// `a` has its halo; zones are those of the kernel.
  virtual void apply(const Domain& domain, const Kernel& kernel, Arguments a, Halos::Zones& zones) = 0;

 protected:
  using Zones = Halos::Zones;
};

}  // namespace quarksmith
