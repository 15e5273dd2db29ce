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

/// A level and what leads to the next.
struct MultigridLevel {
  Coordinates block{4, 4, 4, 4};
  int vectors = 24;
  std::optional<Method> smoother;  ///< on the even-odd form; none: a polynomial (solvers/multigrid/polynomial.hpp)
  int smoother_steps = 8;          ///< 4 on coarse levels
  int coarse_steps = 2;  ///< of GCR on the next level, with a cycle as preconditioner; nothing to the last one
  bool packed = true;    ///< near-null vectors and coarse matrices are stored in 16 bits
};

/// Unknowns of a direct solve at most.
inline constexpr int most_unknowns = 2048;

/// Whether that serves a lattice of so many sites and near-null vectors, in the even-odd form.
constexpr bool solved_directly(long long sites, int vectors) { return sites * vectors <= most_unknowns; }

/// Steps on a coarsest level that it does not serve.
inline constexpr int steps_without_inverse = 100;

struct MultigridParameters {
  std::vector<MultigridLevel> levels;
  Method coarsest = Method::gcr;  ///< of the coarsest level, on its even-odd form
  int coarsest_steps = 0;         ///< of that; 0: a direct solve where it is small enough
  /// Precision of the finest level's smoother: half, single, or empty for half on GPUs, where it spares memory traffic.
  std::string smoother_precision = {};
  int relaxations = 50;     ///< steps of MR with which near-null vectors begin
  int most_rounds = 5;      ///< of adaptation
  double least_gain = 0.1;  ///< rounds end when the convergence factor, if good, falls by less than this part of it
  int width = 12;           ///< near-null vectors that are improved together
};

/// Levels for a lattice: blocks of four sites a direction, or two where those would leave fewer than four blocks, then
/// of two, as long as coarse extents stay even and a level has many sites. Blocks are those of the whole lattice where
/// they fit into its parts. \param length of blocks of the finest level instead, in directions that it cuts into an
/// even extent. \param vectors near-null vectors of the finest level at most.
MultigridParameters multigrid_for(const Lattice& lattice, int slices, int length = 0, int vectors = 24);

/// Whether a number of steps of a method can smooth, or solve on the coarsest level.
bool is_smoother(Method method);
std::vector<std::string_view> smoother_names();
/// Name of the default smoother, and of the smoother of a level.
inline constexpr std::string_view polynomial = "polynomial";
std::string_view smoother_of(const MultigridLevel& level);
/// \throws UsageError a block does not cut the lattice of its level into one of even extents, or has fewer numbers than
/// there are near-null vectors: the message names the level. \param slices of the finest level.
void check(const MultigridParameters& parameters, const Lattice& lattice, int slices);

/// Steps of the method of a coarsest level of so many sites in all; 0: a direct solve.
int coarsest_steps_for(const MultigridParameters& parameters, long long sites);

/// A table of the levels.
std::string text_of(const MultigridParameters& parameters, const Lattice& lattice);

}  // namespace quarksmith
