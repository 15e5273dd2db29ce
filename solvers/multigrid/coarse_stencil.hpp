/// \file
/// The couplings between the blocks of an operator: which there are, and their matrices.
#pragma once

#include "solvers/multigrid/site_matrices.hpp"
#include "solvers/multigrid/transfer.hpp"

namespace quarksmith {

/// Displacements by -1, 0 or 1 in each direction, but not 0 in all.
using CoarseStencil = std::vector<Coordinates>;

/// The eight along one direction: forward and backward in x, then y, z, t.
CoarseStencil nearest_neighbours();
/// Displacements from blocks to those from which M brings something: the nearest neighbours, or if there are others
/// exactly those that are found. What M makes of a near-null vector on the blocks of one colour, with all coordinates
/// even, vanishes on blocks that are not coupled to these. Collective.
CoarseStencil stencil_of(const Transfer& transfer, const LinearOperator& m);
/// Whether some of them lead along several directions.
bool has_corners(const CoarseStencil& stencil);
/// Whether all of them change the parity of a block.
bool changes_parity(const CoarseStencil& stencil);
/// Applications of M to a vector for the columns of a number of a coarse vector.
int applications_of(const CoarseStencil& stencil);

/// Matrices of some blocks: that of a block itself, and one for each displacement, in this order.
struct CoupledBlocks {
  SiteMatrices own, hops;
};

/// Columns of P^+ M P. M is applied to P e, e a unit vector on some blocks. A hop reaches half a block at most: it
/// comes from the next block in a direction to sites in the upper half there, from the one before to those in the lower
/// half.
class CoarseProbe {
 public:
  /// \param m only read here; these outlive it.
  CoarseProbe(const Transfer& transfer, const LinearOperator& m);

  /// Nearest neighbours: signs of e alternate in none of the directions or in one, five applications a vector. Half of
  /// the difference of two is what comes from the neighbours in that direction.
  void by_signs(const std::vector<CoupledBlocks*>& to);
  /// Any neighbours: e on blocks of one of sixteen colours, the parities of their four coordinates, an application for
  /// each. What arrives at a block has come along the directions in which the two parities differ.
  void by_colours(const std::vector<CoupledBlocks*>& to, const CoarseStencil& stencil);

 private:
  /// The vectors to which M is applied: P of unit vectors (Transfer::spread).
  void take_units(int first, int pattern);
  void apply(Transfer::Blocks& image);
  /// Whether hops from the next block, or the one before, reach its outermost sites alone: of what coarse_ has.
  bool comes_to_outermost(const Transfer::Blocks& other, int mu, int step) const;

  const Transfer* transfer_;
  const LinearOperator* m_;
  SpinorField in_, out_, coarse_;
  Transfer::Blocks image_;
};

}  // namespace quarksmith
