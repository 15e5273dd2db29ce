/// \file
/// Transfer between a lattice and that of its blocks.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "solvers/krylov/linear_operator.hpp"
#include "solvers/multigrid/block_sites.hpp"
#include "solvers/multigrid/coarse_ranks.hpp"
#include "solvers/multigrid/places.hpp"

namespace quarksmith {

/// Prolongation P and restriction P^+, from near-null vectors that are orthonormal on each block, for each chirality
/// (M. Luescher, JHEP 07 (2007) 081; R. Babich et al., Phys. Rev. Lett. 105 (2010) 201602). gamma_5 of a coarse vector
/// acts on its slices in the DeGrand-Rossi basis: P commutes with it.
class Transfer {
 public:
  /// \param fine the operator of the finer level. \param basis of its spinors.
  /// \param vectors number of near-null vectors, a multiple of 6. \param packed whether they are stored in 16 bits.
  /// \param parts where the lattice is spread over ranks: blocks are inside of each. What they do is collective.
  /// \throws UsageError blocks do not divide the lattice into a coarse one of even extents; the number of vectors.
  Transfer(const LinearOperator& fine, const BasisInfo& basis, const Coordinates& block, int vectors,
           bool packed = false, Parts parts = Parts::kept);

  /// Makes P from near-null vectors, the right-hand sides of `v`.
  void keep(const SpinorField& v);
  /// fine = P coarse; restrict: coarse = P^+ fine; for any number of right-hand sides. If `fine` has even sites only, P
  /// coarse is restricted to these, and odd sites count as zero.
  void prolong(SpinorField& fine, const SpinorField& coarse) const;
  void restrict_to(SpinorField& coarse, const SpinorField& fine) const;
  /// Allocates work space for both.
  void reserve(int rhs) const;

  /// Fields of the finer level in the order of blocks.
  class Blocks {
   public:
    Blocks(const Transfer& transfer, int rhs);
    Blocks columns(int count) const;
    int rhs() const { return rhs_; }
    const Operand& operand() const { return operand_; }

   private:
    std::shared_ptr<Memory> memory_;
    Operand operand_;
    int rhs_;
  };
  void to_blocks(Blocks& out, const SpinorField& in) const { to_blocks(all_, out, in); }
  void from_blocks(SpinorField& out, const Blocks& in) const { from_blocks(all_, out, in); }
  void prolong(Blocks& fine, const SpinorField& coarse) const { prolong(all_, fine, coarse); }
  void restrict_to(SpinorField& coarse, const Blocks& fine) const { restrict_to(all_, coarse, fine); }
  /// P of unit vectors `first`, first + 1, ... on all blocks, times the factors of a pattern (one_colour): signs that
  /// alternate in some directions, or 1 on blocks of one colour and 0 on others.
  void spread(Blocks& fine, int first, int pattern) const;
  /// Multiplies v by signs of blocks that alternate in the directions of `mask`.
  void alternate(SpinorField& v, int mask) const;
  /// P^+ (fine - other), those signs in front of the second, of the sites of blocks at which a hop in direction mu
  /// may arrive from the next block, or from the one before: of half a block, or of its outermost layer.
  void restrict_difference(SpinorField& coarse, const Blocks& fine, const Blocks& other, int mu, int step,
                           bool outermost = false) const;
  /// P^+ fine, of the sites in one of the corners of blocks: in the upper half in the directions whose bits are set, in
  /// the lower one in the others. Hops arrive in these from the next block and the one before.
  void restrict_corner(SpinorField& coarse, const Blocks& fine, int corner) const;

  /// Bytes of P on the sites of `fine`, and of a field of each level.
  double bytes(int rhs, Subset fine) const;

  int vectors() const { return vectors_; }
  const Coordinates& block() const { return block_; }
  const PrecisionInfo& precision() const { return *precision_; }
  const DomainPointer& coarse_domain() const { return coarse_; }
  int coarse_slices() const { return vectors_ / chiral_numbers; }
  SpinorField coarse_field(int rhs) const { return {coarse_, *precision_, Subset::full, rhs, {}, coarse_slices()}; }
  SpinorField fine_field(int rhs) const { return {fine_, *precision_, Subset::full, rhs, {}, slices_}; }

 private:
  /// A record of the vectors, with which kernels see some sites of blocks: those that are numbered there, or the first
  /// `count`. It outlives a field of even sites.
  struct View {
    Memory sites, record;
    int count = 0;
  };
  /// All sites of a field; where blocks have the even ones first, these alone if it holds no others.
  const View& view_of(const SpinorField& fine) const;
  void to_blocks(const View& view, Blocks& out, const SpinorField& in) const;
  void from_blocks(const View& view, SpinorField& out, const Blocks& in) const;
  void prolong(const View& view, Blocks& fine, const SpinorField& coarse) const;
  void restrict_to(const View& view, SpinorField& coarse, const Blocks& fine) const;
  bool in_tiles() const, reads_copies() const;
  int groups_of(int columns) const;
  std::vector<int> steps_of(const std::vector<int>& sites) const;
  void make_view(View& view, int count, int lane_blocks, std::optional<int> face = {}) const;
  void make_views();
  const View& some(int face) const;
  void number_blocks();
  std::vector<int> places_in_blocks();
  void pack();
  const Kernel& kernel(std::string_view name) const;
  void look_up(bool packed);
  void reorder(const Kernel& kernel, const View& view, const SpinorField& field, const Operand& in, const Operand& out,
               int mask = 0) const;
  void run(const Kernel& kernel, const View& view, long long items, int columns,
           const std::function<void(Arguments&)>& set, int groups = 1) const;
  void take(const Blocks& v, int first);
  bool orthonormalise(Blocks& work);
  void restrict_seen(const View& view, SpinorField& coarse, const Blocks& fine, const Blocks* other, int mask) const;
  void complete(SpinorField& coarse) const;

  DomainPointer fine_, coarse_;
  const PrecisionInfo* precision_;
  Coordinates block_, extent_;  ///< of a block; of the local lattice of blocks
  long long blocks_;            ///< local number of blocks
  int vectors_, slices_;
  BlockSites sites_;  ///< of a block
  int rows_, lane_blocks_;
  bool packs_;
  const Kernel *to_blocks_, *from_blocks_, *spread_ = nullptr, *restrict_ = nullptr, *prolong_ = nullptr;
  Memory place_, coarse_first_, odd_, faces_, panel_, packed_, scale_, failed_;
  SiteOrder order_;
  std::optional<Gathering> gathering_;  ///< where each rank has the whole coarse lattice, and blocks of a part
  mutable std::optional<Blocks> work_;
  View all_, even_;  ///< all sites of blocks, the even ones
  mutable std::array<std::optional<View>, 2 * BlockSites::whole_faces + BlockSites::corners>
      some_;  ///< faces, once asked for
};

}  // namespace quarksmith
