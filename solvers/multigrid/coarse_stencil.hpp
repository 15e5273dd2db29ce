/// \file
/// The couplings of an operator between blocks: their displacements and matrices.
#pragma once

#include "solvers/multigrid/site_matrices.hpp"
#include "solvers/multigrid/transfer.hpp"

namespace quarksmith {

/// Displacements by -1, 0 or 1 in each direction, but not 0 in all.
using CoarseStencil = std::vector<Coordinates>;

/// The eight along one direction: forward and backward in x, then y, z, t.
CoarseStencil nearest_neighbours();
/// Displacements between blocks that M couples: the nearest neighbours, or if there are others exactly those that are
/// found, by applying M to a near-null vector on blocks of one colour (all coordinates even) and looking where the
/// result vanishes. Collective.
CoarseStencil stencil_of(const Transfer& transfer, const LinearOperator& m);
/// Whether some displacements are along several directions.
bool has_corners(const CoarseStencil& stencil);
/// Whether all displacements change the parity of a block.
bool changes_parity(const CoarseStencil& stencil);
/// Applications of M to a vector for one column of all matrices.
int applications_of(const CoarseStencil& stencil);

/// Matrices of some blocks: that of a block itself, and one for each displacement, in this order.
struct CoupledBlocks {
  SiteMatrices own, hops;
};

/// Computes columns of P^+ M P by applying M to P e, with e a unit vector on some blocks. Hops reach at most half a
/// block, so that those from the next block arrive in the upper half of a block, and those from the one before in the
/// lower half.
class CoarseProbe {
 public:
  /// \param m only used here; both must outlive this.
  CoarseProbe(const Transfer& transfer, const LinearOperator& m);

  /// Nearest neighbours: the signs of e alternate in no direction or in one, which takes five applications for each
  /// vector. Half the difference of two results is the contribution of the neighbours in that direction.
  void by_signs(const std::vector<CoupledBlocks*>& to);
  /// Any neighbours: e is on blocks of one of sixteen colours (parities of their four coordinates), with an application
  /// for each. Contributions to a block come along the directions in which its parities differ from these.
  void by_colours(const std::vector<CoupledBlocks*>& to, const CoarseStencil& stencil);

 private:
  /// The vectors to which M is applied: P of unit vectors (Transfer::spread).
  void take_units(int first, int pattern);
  void apply(Transfer::Blocks& image);
  /// Whether hops from the next block, or the one before, reach only the outermost sites, judged from coarse_.
  bool comes_to_outermost(const Transfer::Blocks& other, int mu, int step) const;

  const Transfer* transfer_;
  const LinearOperator* m_;
  SpinorField in_, out_, coarse_;
  Transfer::Blocks image_;
};

}  // namespace quarksmith
