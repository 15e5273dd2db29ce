/// \file
/// Sources of quark propagators.
#pragma once

#include <string>

#include "runtime/field.hpp"

namespace quarksmith {

/// A source as options describe it.
struct SourceSettings {
  enum class Kind { point, gaussian, wall } kind = Kind::point;
  Coordinates origin{};  ///< of point and gaussian; a wall uses its t alone
  double width = 0;      ///< of gaussian
  int steps = 0;

  /// Time slice from which correlators count.
  int time() const { return origin[3]; }
};

/// `point:x,y,z,t`, `gaussian:x,y,z,t:w,N` or `wall:t`.
/// \throws UsageError any other text, or an origin outside the lattice.
SourceSettings source_of(const std::string& text, const Lattice& lattice);

/// Width and steps of `gaussian:w,N`, or none for `point`.
/// \throws UsageError any other text.
struct SinkSettings {
  bool smeared = false;
  double width = 0;
  int steps = 0;
};
SinkSettings sink_of(const std::string& text);

/// 1 in one spin and colour at the origin (point, gaussian before smearing) or on all sites of a time slice (wall).
HostSpinor make_source(const SourceSettings& settings, const Lattice& lattice, int spin, int colour);

}  // namespace quarksmith
