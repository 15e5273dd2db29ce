/// \file
/// Hopping terms of a lattice that is divided among ranks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/ranks/domain.hpp"

namespace quarksmith {

/// How spinors cross the boundaries between local lattices while a hopping term is applied.
enum class Policy {
  first,    ///< exchange, then one kernel for all sites
  overlap,  ///< sites that need no halo are computed during the exchange, the others after it
  staged,   ///< as `first`, through host memory even if MPI could do without
  peer,     ///< on one host: packed spinors are stored into the neighbour's memory, where counters signal their arrival
  fused,    ///< as `peer`, in one kernel (GPUs)
  mixed,    ///< on several hosts: as `fused` or, on CPUs, `peer` within each, with messages between them meanwhile
  shmem     ///< as `overlap`, but GPUs put spinors into each other's memory, within a host or not, and the hosts do not
            ///< wait (NVSHMEM)
};
inline constexpr int policy_count = 7;

std::string_view name_of(Policy policy);
std::span<const std::string_view> policy_names();
/// \throws UnknownName another name; the message lists those that exist.
Policy policy_of(const std::string& name);

class HaloPolicy;

/// Links of the neighbouring ranks behind that lead into the local lattice, by direction: of hops over one site, and of
/// longer ones.
struct LinkGhosts {
  std::array<Operand, directions> near, far;
};

/// The halos of a domain whose lattice is divided among ranks, and the policy by which they are filled.
class Halos {
 public:
  explicit Halos(const Domain& domain);
  ~Halos();

  /// Why a policy cannot be used here; empty if it can.
  std::string refusal(Policy policy) const;
  /// All policies that can be used here.
  std::vector<Policy> possible() const;
  /// Sets the policy of hopping terms from now on, the same on all ranks; none: the one measured to be fastest.
  /// \throws UsageError it cannot be used here.
  void use(std::optional<Policy> policy);
  /// The policy in use: as set, else as measured, else the best of those possible.
  Policy policy_for(std::string_view precision, int rhs) const;
  Policy policy() const { return policy_for("double", 1); }
  /// Whether a hopping term can be one launch on all sites. Hopping terms with sums then always are: extra passes over
  /// fields and waiting would take longer.
  bool in_one_launch() const { return asked_ ? *asked_ == Policy::fused : refusal(Policy::fused).empty(); }
  /// `peer` if ranks can store into each other's memory, `mixed` if those of a host can, else `mpi`.
  std::string_view link() const { return reach_ == Reach::all ? "peer" : reach_ == Reach::host ? "mixed" : "mpi"; }

  /// Applies a hopping kernel on all ranks: arguments.in and .out are fields of this domain, and `links` belong to
  /// arguments.links.
  /// \throws MissingKernel the kernel has no part for boundaries.
  void apply(const Kernel& kernel, Arguments arguments, const LinkGhosts& links);
  /// Runs one stage of apply, for timing; the results are meaningless.
  void apply_part(const Kernel& kernel, Arguments arguments, const LinkGhosts& links, const HaloWork& work);

  /// Bytes that one application sends to other ranks.
  std::uint64_t bytes_of(const Kernel& kernel, int rhs) const;

  struct Zones;  ///< runtime/ranks/halo_policy.hpp

 private:
  /// The ranks whose memory a rank can store into: none, those of its host while there are others, all.
  enum class Reach { none, host, all };
  /// The policy that is best if nothing was measured.
  Policy usual() const;
  /// Halo zones for kernels of a kind with `rhs` right-hand sides.
  Zones& zones_of(const Kernel& kernel, int rhs, Policy policy);
  std::unique_ptr<Zones> make_zones(const Kernel& kernel, int rhs, Policy policy) const;
  void prepare(Zones& zones, const Kernel& kernel, Arguments& arguments, const LinkGhosts& links) const;

  const Domain* domain_;
  Reach reach_ = Reach::none;
  std::optional<Policy> asked_;
  /// The fastest policy as measured on this device at this local volume (generator/tune/policies.py).
  struct Measured {
    std::string_view precision;
    bool batch;
    Policy policy;
  };
  std::vector<Measured> measured_;
  std::array<std::unique_ptr<HaloPolicy>, policy_count> ways_;
  /// Key: precision, vectors that cross, sites of the longest hop, whether neighbours store into the zones, or put.
  std::map<std::tuple<std::string, int, int, bool, bool>, std::unique_ptr<Zones>> zones_;
};

/// Calls visit(block, index of the block on the face) for all blocks of a parity in a slice of the local lattice.
void for_each_on_face(const Geometry& geometry, int parity, int mu, int slice,
                      const std::function<void(int block, int index)>& visit);
/// Blocks of one parity on a face.
int face_blocks(const Geometry& geometry, int mu);
/// Bytes that one application of a hopping kernel to `rhs` right-hand sides sends over one of the two faces of the
/// local lattice across mu. \param short_vectors as of the device that packs them
std::uint64_t face_bytes(const Kernel& kernel, const Geometry& geometry, int mu, bool short_vectors, int rhs);

}  // namespace quarksmith
