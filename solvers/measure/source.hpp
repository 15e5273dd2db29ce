/// \file
/// Sources of quark propagators.
#pragma once

#include <cstdint>
#include <string>

#include "solvers/measure/smearing.hpp"

namespace quarksmith {

/// A source as options describe it; coordinates are those of the whole lattice.
struct SourceSettings {
  enum class Kind { point, wall, corner_wall, noise } kind = Kind::point;
  Coordinates origin{};    ///< of point; walls use its t alone
  QuarkSmearing smearing;  ///< of a point
  std::uint64_t seed = 0;  ///< of noise
  int roots = 2;           ///< noise is drawn from the roots of unity of this order: Z2 or Z4

  /// Time slice from which correlators count.
  int time() const { return origin[3]; }
};

/// `point:x,y,z,t`, `gaussian:x,y,z,t:w,N`, `jacobi:x,y,z,t:kappa,N[,norm]`, `wuppertal:x,y,z,t:alpha,N`, `wall:t`,
/// `corner-wall:t` or `noise:SEED[,z2|z4]` (default z2).
/// \throws UsageError any other text, or an origin outside the lattice.
SourceSettings source_of(const std::string& text, const Lattice& lattice);

/// Smearing of a sink: none for `point`, else as quark_smearing_of reads it.
/// \throws UsageError any other text.
QuarkSmearing sink_of(const std::string& text);

/// In one spin and colour: 1 at the origin (point, before smearing), on all sites of a time slice (wall) or
/// those of them whose x, y and z are even (corner wall, for staggered quarks: one corner of each hypercube), or an
/// independent root of unity at every site (noise; S.-J. Dong and K.-F. Liu, Phys. Lett. B 328 (1994) 130), the same
/// for every spin and colour. Noise depends on seed and global site alone; a part of a lattice gets its part.
HostSpinor make_source(const SourceSettings& settings, const Lattice& lattice, int spin, int colour);

}  // namespace quarksmith
