/// \file
/// What can be chosen about multigrid.
#pragma once

#include <string>
#include <vector>

#include "runtime/fields/lattice.hpp"
#include "runtime/kernels/coarse_records.hpp"

namespace quarksmith {

/// A level and what leads to the next.
struct MultigridLevel {
  Coordinates block{4, 4, 4, 4};
  int vectors = 24;
  int smoother_steps = 8;  ///< of MR on the even-odd form; 4 on coarse levels
  int coarse_steps = 2;    ///< of GCR on the next level, with a cycle as preconditioner; nothing to the last one
};

/// Unknowns of a direct solve at most.
inline constexpr int most_unknowns = 2048;

struct MultigridParameters {
  std::vector<MultigridLevel> levels;
  /// Of GCR on the even-odd form of the coarsest level; 0: a direct solve where it is small enough.
  int coarsest_steps = 0;
  /// Of the finest level's smoother; empty: half on GPUs, where it spares memory traffic, else single.
  std::string smoother_precision;
  bool packed = true;       ///< near-null vectors and coarse matrices are stored in 16 bits
  int relaxations = 50;     ///< steps of MR with which near-null vectors begin
  int most_rounds = 5;      ///< of adaptation
  double least_gain = 0.1;  ///< rounds end when the convergence factor, if good, falls by less than this part of it
  int width = 12;           ///< near-null vectors that are improved together
};

/// Levels for a lattice: blocks of 4^4, then 2^4, as long as coarse extents stay even and a level has many sites.
MultigridParameters multigrid_for(const Lattice& lattice, int slices);

/// Steps of GCR on a coarsest level of so many sites; 0: a direct solve.
int coarsest_steps_for(const MultigridParameters& parameters, long long sites);

/// A table of the levels.
std::string text_of(const MultigridParameters& parameters, const Lattice& lattice);

}  // namespace quarksmith
