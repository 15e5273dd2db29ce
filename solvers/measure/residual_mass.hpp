/// \file
/// How far domain-wall quarks are from chiral symmetry.
#pragma once

#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Sums of |psi|^2 over the sites of each t of the whole lattice. The ranks that hold its parts call this together.
std::vector<double> slice_norms(const HostSpinor& column, Communicator& communicator = *Communicator::self());

/// m_res(t) = sum_x <J_5q(x, t) P(0)> / sum_x <P(x, t) P(0)>: the midpoint density in the place of the pseudoscalar one
/// (T. Blum et al., Phys. Rev. D 69 (2004) 074502, hep-lat/0007038). For a propagator both are sums of |S|^2, of the
/// quark field in the middle of the fifth dimension and on its walls.
class ResidualMass {
 public:
  explicit ResidualMass(const Lattice& lattice);

  /// Adds the slice_norms of one column: of both parts of a solution.
  void add(const std::vector<double>& midpoint, const std::vector<double>& quark);
  /// Of each t of the whole lattice, counted from `source_t`.
  std::vector<double> values(int source_t) const;

 private:
  std::vector<double> midpoint_, wall_;  // sums of |S|^2 by t
};

}  // namespace quarksmith
