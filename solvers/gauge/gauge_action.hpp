/// \file
/// Gauge actions made of small loops, and their force.
#pragma once

#include <array>

#include "runtime/fields/field.hpp"
#include "solvers/links/scratch_fields.hpp"

namespace quarksmith {

/// A gauge action: coefficients c of its loops, S = -1/3 sum of c Re tr, or 1/3 sum of c (3 - Re tr), and of products
/// of plaquettes.
struct GaugeLoops {
  std::array<double, 6> planes{};  ///< of plaquettes: xy, xz, yz, xt, yt, zt
  /// Coefficients of 2x1 loops in these planes: long in the first direction of the plane, and in the second.
  std::array<std::array<double, 2>, 6> rectangles{};
  double chair = 0;
  /// Coefficients c of pairs of plaquettes in the planes xy, xz, yz, one ahead of the other in t: -c/18 Re tr U_p(x) Re
  /// tr U_p(x + t).
  std::array<double, 3> two_plaquettes{};
  /// Coefficients of squares of all plaquettes: -1/9 (c_0 |tr U_p|^2 + c_1 Re (tr U_p)^2).
  std::array<double, 2> squares{};
  bool constant = false;  ///< whether S has the constant that makes it 0 for unit links

  void all_rectangles(double c) { rectangles.fill({c, c}); }
  bool has_rectangles() const { return rectangles != decltype(rectangles){}; }
  bool has_squares() const { return squares != decltype(squares){}; }
};

/// S of links in double with all reals. Collective.
/// \throws MissingKernel the build lacks a kernel of these loops.
double gauge_action(const GaugeLoops& loops, const LinkField& links);
/// out += step dP/dtau of these loops: 1/2 [U G]_TA with dS = sum Re tr(dU G), [A]_TA = (A - A^+)/2 minus its trace.
/// \param scratch temporary fields.
/// \throws MissingKernel the build lacks a kernel of these loops.
void add_gauge_force(const GaugeLoops& loops, const LinkField& links, const ScratchFields& scratch, double step,
                     LinkField& out);

}  // namespace quarksmith
