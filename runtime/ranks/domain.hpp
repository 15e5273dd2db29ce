/// \file
/// A lattice on a device, shared by all fields on it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/device.hpp"
#include "runtime/lattice/lattice.hpp"

namespace quarksmith {

class PaddedLattice;
class Halos;
class HaloExchange;
class RankSums;

/// How far kernels read beyond the local lattice along each direction, the same both ways.
struct BorderDepth {
  Coordinates sites{};
  bool corners = false;  ///< corners, too: sites reached by steps along several directions
  friend bool operator==(const BorderDepth&, const BorderDepth&) = default;
};

/// Work for the halos of fields so far: exchanges with other ranks, bytes that this rank sent, and copies of whole
/// fields between local and padded lattice.
struct BorderTraffic {
  long long exchanges = 0, bytes = 0, copies = 0;
};

/// A lattice on a device, or one rank's local lattice: shared by all fields that kernels use together.
class Domain {
 public:
  /// \param communicator the ranks that the lattice is spread over, in the order of their numbers.
  /// \param reach sites of the longest hop of kernels on it, 1 or 3.
  /// \throws WrongLattice the lattice, or the local one, is shorter than a hop.
  Domain(const Lattice& lattice, std::shared_ptr<Device> device,
         std::shared_ptr<Communicator> communicator = Communicator::self(), int reach = 1);
  ~Domain();

  const Lattice& lattice() const { return lattice_; }
  Communicator& communicator() const { return *communicator_; }
  const std::shared_ptr<Communicator>& communicator_pointer() const { return communicator_; }
  /// Halos for hopping terms; made on first use, by all ranks together.
  /// \throws UsageError the lattice is not split.
  Halos& halos() const;
  /// Halo exchange of links and fields outside hopping terms; made like `halos`.
  HaloExchange& halo_exchange() const;
  /// The padded lattice with a halo of at least this depth, for fields whose numbers have `element_bytes`; null if
  /// kernels of that depth stay within the local lattice.
  /// \throws WrongLattice the local lattice is shorter than the depth; the message names `what`.
  /// \param shared whether to return the deepest existing one, which already has copies of links, instead of one of
  /// exactly this depth.
  const PaddedLattice* padded(const BorderDepth& depth, int element_bytes, std::string_view what,
                              bool shared = true) const;
  /// The padded lattice of this domain with that inner domain; null if there is none.
  const PaddedLattice* padded_in(const Domain& padded) const;
  /// An existing inner domain of a padded lattice with these extents and this offset of the local lattice, so that
  /// padded lattices share copies of links; null if there is none.
  std::shared_ptr<const Domain> padded_like(const Coordinates& extents, const Coordinates& offset,
                                            int element_bytes) const;
  /// Work for the halos of this domain's fields so far.
  BorderTraffic border_traffic() const;
  /// Sums over the ranks within kernels; made like `halos`. Null for one rank.
  const RankSums* rank_sums() const;
  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& device_pointer() const { return device_; }
  /// Whether fields of both domains are stored alike, so that they can be copied into each other.
  friend bool alike(const Domain& a, const Domain& b) {
    return &a == &b || (a.device_ == b.device_ && a.lattice_.extent() == b.lattice_.extent() && a.reach_ == b.reach_);
  }
  /// Lanes of fields whose numbers have `element_bytes`: the full width of the device, or 1 if the lattice does not
  /// allow it.
  int lanes(int element_bytes) const;
  /// Sites of the longest hop.
  int reach() const { return reach_; }
  /// \throws UsageError hops of the kernel are longer.
  void require_reach(const Kernel& kernel) const;
  /// Lanes and numbering for fields stored with so many lanes.
  const LaneLayout& layout(int lanes) const;
  /// Slots (SitePair) of the last `depth` slices along mu in a link field with `lanes` lanes, and in the halo of the
  /// next rank, which gets them; made once.
  const Memory& leaving_slots(int lanes, int mu, int depth) const;
  /// The number in the whole lattice of the site of each slot of a full field (SiteDraws::numbers); made once.
  const Memory& site_numbers(int lanes) const;

 private:
  Lattice lattice_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<Communicator> communicator_;
  int reach_;
  mutable std::array<std::unique_ptr<LaneLayout>, 5> layouts_;  // by log2(lanes)
  mutable std::unique_ptr<Halos> halos_;
  mutable std::unique_ptr<HaloExchange> halo_exchange_;
  mutable std::vector<std::unique_ptr<PaddedLattice>> padded_;
  mutable std::unique_ptr<RankSums> rank_sums_;
  mutable std::map<std::array<int, 3>, Memory> leaving_slots_;  // by lanes, direction and depth
  mutable std::map<int, Memory> site_numbers_;                  // by lanes
};
using DomainPointer = std::shared_ptr<const Domain>;

}  // namespace quarksmith
