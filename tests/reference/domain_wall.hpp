/// \file
/// Domain-wall and Moebius fermions as their definitions state them: dense projectors, dense matrices over slices.
#pragma once

#include "tests/reference/reference.hpp"
#include "tests/reference/square.hpp"

namespace reference {

/// A field for each slice of the fifth dimension.
using Slices = std::vector<HostSpinor>;
/// (1 + sign gamma_5) / 2
SpinMatrix chiral_projector(int sign);
/// alpha_s + beta_s R for one chirality (sign of gamma_5): psi_{s+1} for -1, psi_{s-1} for +1, times `corner` where
/// that leaves the slices.
Square shift_rows(const std::vector<Complex64>& alpha, const std::vector<Complex64>& beta, Complex64 corner, int sign);
/// minus P_- psi + plus P_+ psi, the matrices acting on the slices.
Slices multiply(const Square& minus, const Square& plus, const Slices& psi);

/// Parameters of D_5 psi_s = (b_s D_W + 1) psi_s + (c_s D_W - 1) (P_- psi_{s+1} + P_+ psi_{s-1}), D_W with mass -m5; at
/// the ends P_- psi_{Ls} = -m P_- psi_0 and P_+ psi_{-1} = -m P_+ psi_{Ls-1} (arXiv:1206.5214).
struct Moebius {
  double m5 = 1.8, mass = 0.1;
  std::vector<Complex64> b, c;
  Coefficients coefficients;
  int slices() const { return static_cast<int>(b.size()); }
};
/// D_5 psi or D_5^+ psi.
Slices domain_wall(const HostGauge& gauge, const Slices& psi, const Moebius& p, bool dagger);
/// D_W psi with mass -m5.
HostSpinor wall_wilson(const HostGauge& gauge, const HostSpinor& psi, const Moebius& p, bool dagger);

}  // namespace reference
