/// \file
/// What the kernels must compute, written without any of their tricks: dense 4x4 spin matrices, all nine elements of
/// every link, plain complex double, lexicographic sites. Shares no line with the generator.
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "runtime/fields/field.hpp"

namespace reference {

using quarksmith::Complex64;
using quarksmith::Coordinates;
using quarksmith::HostGauge;
using quarksmith::HostSite;
using quarksmith::HostSpinor;
using quarksmith::Lattice;
using quarksmith::Matrix3;

/// A 4x4 matrix on the spin index.
using SpinMatrix = std::array<std::array<Complex64, 4>, 4>;

SpinMatrix operator*(const SpinMatrix& a, const SpinMatrix& b);
SpinMatrix operator+(const SpinMatrix& a, const SpinMatrix& b);
SpinMatrix operator*(Complex64 c, const SpinMatrix& a);
SpinMatrix adjoint(const SpinMatrix& a);
SpinMatrix identity();
/// gamma_mu of the DeGrand-Rossi basis, mu = 0..3 for x, y, z, t, typed from its definition.
SpinMatrix gamma(int mu);
/// gamma_x gamma_y gamma_z gamma_t
SpinMatrix gamma5();

/// Spin matrices of a nearest-neighbour operator: [mu][0] multiplies the forward, [mu][1] the backward hop.
using HopMatrices = std::array<std::array<SpinMatrix, 2>, 4>;
/// 1 -+ gamma_mu, or for D^+ 1 +- gamma_mu.
HopMatrices wilson_hops(bool dagger);

/// Coefficient of the forward hop at each site: bulk[mu], times phase[mu] on the last slice.
struct Coefficients {
  std::array<double, 4> bulk{1, 1, 1, 1};
  std::array<Complex64, 4> phase{1, 1, 1, 1};
};

/// Coordinates whose sum's parity gives hops along mu a sign, as bits; none by default.
using PhaseMasks = std::array<int, 4>;

/// sum_mu c_mu(x) H+_mu U_mu(x) psi(x+mu) + conj(c_mu(x-mu)) H-_mu U_mu(x-mu)^+ psi(x-mu); or the same with `length`
/// sites for mu, where hops that cross the boundary take its phase.
HostSpinor hopping(const HostGauge& gauge, const HostSpinor& psi, const HopMatrices& hops, const Coefficients& c,
                   const PhaseMasks& masks = {}, int length = 1);

/// (m + 4) psi - D psi / 2, or its conjugate's: Wilson fermions, antiperiodic in time.
HostSpinor wilson(const HostGauge& gauge, const HostSpinor& psi, double mass, bool dagger = false);

/// A site term: for each site a 12x12 matrix, row-major, index 3 spin + colour.
using SiteMatrices = std::vector<std::array<Complex64, 144>>;
HostSpinor multiply(const SiteMatrices& t, const HostSpinor& psi);
/// diagonal + c_sw (i/4) sum_{mu,nu} c_munu sigma_munu F_munu, F = (Q - Q^+)/8, Q the sum of the four leaves; all
/// sixteen pairs of directions, dense. c_munu is `space` or, if one of the two is t, `time`.
SiteMatrices clover(const HostGauge& gauge, double diagonal, double space, double time);

/// a x + b y
HostSpinor combine(Complex64 a, const HostSpinor& x, Complex64 b, const HostSpinor& y);
/// sum conj(x) y
Complex64 dot(const HostSpinor& x, const HostSpinor& y);
double norm(const HostSpinor& x);
/// |b - ax| / |b|
double residual(const HostSpinor& b, const HostSpinor& ax);
/// (spin matrix) psi
HostSpinor multiply(const SpinMatrix& m, const HostSpinor& psi);

/// Product of links from x along steps +1..+4 (forward x..t) and -1..-4 (backward).
Matrix3 path(const HostGauge& gauge, long long x, const std::vector<int>& steps);

/// Gaussian random numbers of unit variance in every component.
HostSpinor random_spinor(const Lattice& lattice, unsigned seed);
/// g(x) U_mu(x) g(x+mu)^+ and g(x) psi(x) for SU(3) matrices g.
std::vector<Matrix3> random_gauge_transformation(const Lattice& lattice, unsigned seed);
HostGauge transform(const HostGauge& gauge, const std::vector<Matrix3>& g);
HostSpinor transform(const HostSpinor& psi, const std::vector<Matrix3>& g);

}  // namespace reference
