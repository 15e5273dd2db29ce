/// \file
/// A part of a lattice with the sites round it as a domain of its own, on which kernels that know nothing of ranks run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <typeindex>
#include <vector>

#include "runtime/lattice/stored_order.hpp"
#include "runtime/ranks/domain.hpp"

namespace quarksmith {

/// Sites one after the other in memory, as pieces of another field, and the bytes that all right-hand sides take.
StoredSites sites_in_zone(const StoredSites& like, void* memory, int count);
std::size_t bytes_of_zone(const StoredSites& zone);

/// A part and, on both sides of each direction that is split, sites of its neighbours: an even number, so that parities
/// are those of the part, of which as many hold something as the depth says. What kernels compute there is right
/// where no step leaves the border.
///
/// On processors with lanes some directions are longer than that: fields then have the lanes of the whole lattice,
/// since kernels of other lanes round in another way; and the fewest blocks hold sites of the part.
class BorderedPart {
 public:
  /// \param element_bytes of the type in which kernels compute.
  /// \param subset sites that the fields hold.
  /// \throws WrongLattice the part is shorter than the depth, or the box has more than 2^31 - 1 sites; the message
  /// names `what`.
  BorderedPart(const Domain& part, const BorderDepth& depth, int element_bytes, std::string_view what,
               Subset subset = Subset::full);

  const Domain& part() const { return *part_; }
  /// The box: on the device of the part, without other ranks.
  const DomainPointer& domain() const { return box_; }
  const BorderDepth& depth() const { return depth_; }
  int element_bytes() const { return element_bytes_; }
  /// Whether a border of that depth is there where one of another depth is, in directions that are split.
  bool reaches(const BorderDepth& there, const BorderDepth& depth) const;
  /// Whether it has at least that depth.
  bool covers(const BorderDepth& depth) const;
  /// Whether that is its depth.
  bool is_for(const BorderDepth& depth) const;
  /// Coordinates in the box of the first site of the part.
  const Coordinates& offset() const { return offset_; }

  /// Where the sites of the part lie in link fields of the box, if they do so as in fields of the part: then links that
  /// have been in the box stay there, and nothing is copied but the border. So on GPUs if t alone is split.
  struct Inside {
    long long first, second;  ///< slots before the even sites, and odd sites more than these lie further on
  };
  const std::optional<Inside>& inside() const { return inside_; }

  /// Whether kernels find fields that they read and write at the site itself alone where these are, without a border;
  /// others of a call are in the box. On GPUs: lanes of a box are not those of the part.
  bool keeps_sites_at_home() const { return part_->device().asynchronous(); }
  /// Restricts a kernel whose arguments are of the box to sites of the part, or blocks that hold some.
  void restrict(Arguments& arguments) const;

  /// Numbers of the sites of the part in the whole lattice, one for each slot of a field of the box that holds all
  /// sites, SiteDraws::nowhere for all others; as an operand with the distance between parities. Made once.
  Operand site_numbers() const;

  /// The sites of the part from a field of it into one of the box, and back.
  void put(const StoredSites& part, const StoredSites& box) const;
  void cut(const StoredSites& box, const StoredSites& part) const;
  /// Fills the border of a field of the box from the other ranks. Collective.
  void exchange(const StoredSites& box) const;

  /// What somebody keeps beside the box for the next call, by its type; made when first asked for.
  template <class T>
  T& kept() const {
    std::shared_ptr<void>& place = kept_[typeid(T)];
    if (place == nullptr) place = std::make_shared<T>();
    return *static_cast<T*>(place.get());
  }
  const BorderTraffic& traffic() const { return traffic_; }

 private:
  /// Sites of the border that one neighbour has.
  struct Zone {
    int mu, side;  ///< 0: behind the part, 1: ahead of it
    Memory pack;   ///< from sites of this part, which a neighbour needs for the same zone, to their numbers in the zone
    Memory unpack;
    int count;
  };
  void find_inside(const std::vector<SitePair>& pairs);
  void list_sites();
  void list_zones();
  void move(const StoredSites& to, const StoredSites& from, const Memory& pairs) const;
  void exchange(std::span<const Zone> zones, const StoredSites& box) const;

  const Domain* part_;
  BorderDepth depth_;
  int element_bytes_;
  Subset subset_;
  DomainPointer box_;
  Coordinates offset_{};
  std::optional<Inside> inside_;
  Memory put_, cut_;         ///< pairs of all sites of the part
  std::vector<int> blocks_;  ///< CPU: 2 n + parity of the blocks n that hold sites of the part
  std::vector<Zone> zones_;
  mutable std::map<std::type_index, std::shared_ptr<void>> kept_;
  mutable Memory site_numbers_;
  mutable BorderTraffic traffic_;
};

}  // namespace quarksmith
