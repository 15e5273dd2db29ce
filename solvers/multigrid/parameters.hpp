/// \file
/// Parameters of multigrid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/lattice/lattice.hpp"
#include "runtime/kernels/coarse_records.hpp"
#include "solvers/krylov/method.hpp"

namespace quarksmith {

/// A level, and the transfer to the next coarser one.
struct MultigridLevel {
  Coordinates block{4, 4, 4, 4};
  int vectors = 24;
  std::optional<Method> smoother;  ///< on the even-odd form; none: a polynomial (solvers/multigrid/polynomial.hpp)
  int smoother_steps = 8;          ///< multigrid_for chooses 4 on coarse levels
  int coarse_steps = 2;  ///< of GCR on the next level, with a cycle as preconditioner; not used if that is the coarsest
  bool packed = true;    ///< near-null vectors and coarse matrices are stored in 16 bits
};

/// Largest number of unknowns of a direct solve.
inline constexpr int most_unknowns = 2048;

/// Whether a coarsest level with these numbers of sites and near-null vectors is solved directly, in even-odd form.
constexpr bool solved_directly(long long sites, int vectors) { return sites * vectors <= most_unknowns; }

/// Steps on a coarsest level that is too large for a direct solve.
inline constexpr int steps_without_inverse = 100;

struct MultigridParameters {
  std::vector<MultigridLevel> levels;
  Method coarsest = Method::gcr;  ///< of the coarsest level, on its even-odd form
  int coarsest_steps = 0;         ///< of `coarsest`; 0: a direct solve if the level is small enough
  /// Precision of the finest level's smoother: half, single, or empty for half on GPUs, where it spares memory traffic.
  std::string smoother_precision = {};
  int relaxations = 50;     ///< steps of MR that make the first near-null vectors from noise
  int most_rounds = 5;      ///< of adaptation
  double least_gain = 0.1;  ///< adaptation ends if a round reduces a good convergence factor by less than this fraction
  int width = 12;           ///< near-null vectors that are improved together
};

/// Levels for a lattice, until one is small enough for a direct solve. In each direction blocks have the first length
/// of 4, 3, 5, 2 (coarser levels: 2, 3) that divides the local lattice and leaves an even number of blocks, if possible
/// at least four. \param length of blocks of the finest level, tried before these. \param vectors of the finest level.
/// \throws UsageError no blocks fit.
MultigridParameters multigrid_for(const Lattice& lattice, int slices, int length = 0, int vectors = 24);

/// Whether a fixed number of steps of a method can serve as smoother, or as solver of the coarsest level.
bool is_smoother(Method method);
std::vector<std::string_view> smoother_names();
/// Name of the default smoother, and of the smoother of a level.
inline constexpr std::string_view polynomial = "polynomial";
std::string_view smoother_of(const MultigridLevel& level);
/// \throws UsageError a block does not cut the lattice of its level into one of even extents, or has fewer numbers than
/// there are near-null vectors: the message names the level. \param slices of the finest level.
void check(const MultigridParameters& parameters, const Lattice& lattice, int slices);

/// Steps of the coarsest level's method. \param sites of the level on all ranks. \return 0: a direct solve.
int coarsest_steps_for(const MultigridParameters& parameters, long long sites);

/// A table of the levels.
std::string text_of(const MultigridParameters& parameters, const Lattice& lattice);

}  // namespace quarksmith
