/// \file
/// The local lattice with a halo (padded lattice), on which kernels run that know nothing about ranks.
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

/// `count` sites of the layout of another field, packed one after the other in memory; and the bytes of such a zone for
/// all right-hand sides.
StoredSites sites_in_zone(const StoredSites& like, void* memory, int count);
std::size_t bytes_of_zone(const StoredSites& zone);

/// The local lattice with a halo of neighbouring sites on both sides of each direction that is divided. The halo has an
/// even width, so that parities are those of the local lattice; `depth` slices of it are filled. Results in the halo
/// are right at sites from which no step leaves it.
///
/// On CPUs with lanes some directions are longer: kernels of other lanes round differently, so fields keep the lanes of
/// the local lattice, and extents are chosen so that the fewest blocks hold local sites.
class PaddedLattice {
 public:
  /// \param element_bytes of the type in which kernels compute.
  /// \param subset sites that the fields hold.
  /// \throws WrongLattice the local lattice is shorter than the depth, or the padded one has more than 2^31 - 1 sites;
  /// the message names `what`.
  PaddedLattice(const Domain& local, const BorderDepth& depth, int element_bytes, std::string_view what,
                Subset subset = Subset::full);

  const Domain& local() const { return *local_; }
  /// The padded lattice as a domain on the same device, without other ranks.
  const DomainPointer& domain() const { return padded_; }
  const BorderDepth& depth() const { return depth_; }
  int element_bytes() const { return element_bytes_; }
  /// Whether a halo of depth `there` includes one of `depth`, in the directions that are divided.
  bool reaches(const BorderDepth& there, const BorderDepth& depth) const;
  bool covers(const BorderDepth& depth) const;
  /// Whether the halo has exactly this depth.
  bool is_for(const BorderDepth& depth) const;
  /// Coordinates of the first local site in the padded lattice.
  const Coordinates& offset() const { return offset_; }

  /// Position of the local sites in link fields of the padded lattice, if both have the same layout: links can then
  /// stay there, and only the halo is copied. This is the case on GPUs if only t is divided.
  struct Inside {
    long long first, second;  ///< slots before the even sites, and odd sites more than these lie further on
  };
  const std::optional<Inside>& inside() const { return inside_; }

  /// Whether kernels take fields that they access at the site itself only from the local lattice, without a copy. True
  /// on GPUs; on CPUs the lanes of the two lattices differ.
  bool keeps_sites_at_home() const { return local_->device().asynchronous(); }
  /// Restricts a kernel on the padded lattice to local sites (on CPUs: to blocks that hold some).
  void restrict(Arguments& arguments) const;

  /// Number of each local site in the whole lattice, by slot of a full field on the padded lattice (SiteDraws::nowhere
  /// for the border); an operand with the distance between parities. Made once.
  Operand site_numbers() const;

  /// Copies the local sites into a field of the padded lattice (put), and back (cut).
  void put(const StoredSites& local, const StoredSites& padded) const;
  void cut(const StoredSites& padded, const StoredSites& local) const;
  /// Fills the halo of a field of the padded lattice from the other ranks. Collective.
  void exchange(const StoredSites& padded) const;

  /// An object of type T that its user keeps here from call to call; made on first use.
  template <class T>
  T& kept() const {
    std::shared_ptr<void>& place = kept_[typeid(T)];
    if (place == nullptr) place = std::make_shared<T>();
    return *static_cast<T*>(place.get());
  }
  const BorderTraffic& traffic() const { return traffic_; }

 private:
  /// Sites of the halo that come from one neighbour.
  struct Zone {
    int mu, side;  ///< 0: behind the local lattice, 1: ahead of it
    Memory pack;   ///< pairs of local sites that a neighbour needs and their numbers in its zone
    Memory unpack;
    int count;
  };
  void find_inside(const std::vector<SitePair>& pairs);
  void list_sites();
  void list_zones();
  void move(const StoredSites& to, const StoredSites& from, const Memory& pairs) const;
  void exchange(std::span<const Zone> zones, const StoredSites& padded) const;

  const Domain* local_;
  BorderDepth depth_;
  int element_bytes_;
  Subset subset_;
  DomainPointer padded_;
  Coordinates offset_{};
  std::optional<Inside> inside_;
  Memory put_, cut_;         ///< pairs of all local sites
  std::vector<int> blocks_;  ///< CPU: 2 n + parity of the blocks n that hold local sites
  std::vector<Zone> zones_;
  mutable std::map<std::type_index, std::shared_ptr<void>> kept_;
  mutable Memory site_numbers_;
  mutable BorderTraffic traffic_;
};

}  // namespace quarksmith
