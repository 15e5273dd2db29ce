/// \file
/// Propagators on the host and the two-point functions made of them.
#pragma once

#include <string>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// S(x; source): at each site a 12x12 matrix; element [3 s + c][3 s' + c'] is sink spin s, colour c, source spin s',
/// colour c'. DeGrand-Rossi basis, lexicographic sites.
struct Propagator {
  Lattice lattice;
  std::vector<std::array<HostSite, 12>> site;  ///< site[x][column][row], column = 3 s' + c'
  explicit Propagator(const Lattice& l) : lattice(l), site(static_cast<std::size_t>(l.sites())) {}
  /// Takes the solution for one source spin and colour.
  void set_column(int spin, int colour, const HostSpinor& solution);
};

/// Names of the 16 gamma structures: products in the order x, y, z, t; `1`, `gx`, `gy`, `gxgy`, ..., `g5`.
const std::vector<std::string>& meson_names();

/// C_Gamma(t) = -sum_x tr[Gamma S Gbar gamma_5 S^+ gamma_5], Gbar = gamma_t Gamma^+ gamma_t, for each name of
/// meson_names(); t runs over the whole lattice and counts from `source_t`. For gamma_5 this is the sum of |S|^2. The
/// ranks that hold the parts of the lattice call this together; all get the same numbers.
std::vector<std::vector<double>> meson_correlators(const Propagator& s, int source_t,
                                                   Communicator& communicator = *Communicator::self());

/// Proton from eps (u^T C gamma_5 d) u with C gamma_mu C^-1 = -gamma_mu^T and the projector (1 + gamma_t)/2, degenerate
/// quarks (Gattringer and Lang, Quantum Chromodynamics on the Lattice, eq. 6.34). Slices that lie beyond the boundary
/// as seen from the source are divided by the phase that three quarks pick up there. Ranks as above.
std::vector<Complex64> proton_correlator(const Propagator& s, int source_t, Complex64 time_phase,
                                         Communicator& communicator = *Communicator::self());

}  // namespace quarksmith
