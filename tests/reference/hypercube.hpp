/// \file
/// Operators that hop to any neighbour of the surrounding hypercube, written densely like the rest of the reference.
#pragma once

#include <map>

#include "tests/reference/reference.hpp"

namespace reference {

/// sum_d H_d V_d(x) psi(x + d), d with -1, 0 or 1 in each direction: V_d(x) is the mean of the products of links along
/// all shortest paths, without phases.
class Hypercube {
 public:
  Hypercube(const HostGauge& gauge, const std::map<Coordinates, SpinMatrix>& hops);
  HostSpinor operator()(const HostSpinor& psi) const;

 private:
  struct Hop {
    Coordinates step;
    SpinMatrix spins;
    std::vector<long long> from;
    std::vector<Matrix3> links;
  };
  std::vector<Hop> hops_;
};

/// Spin matrices of the Brillouin operator (S. Duerr and G. Koutsou, arXiv:1012.3615, eqs. 7 and 11).
std::map<Coordinates, SpinMatrix> brillouin_hops(double mass);

}  // namespace reference
