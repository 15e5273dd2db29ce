/// \file
/// Gauge fields on the host: generated ones, checks, averages.
///
/// Functions with a communicator work on the local lattices of its ranks, all of which call them. Numbers are those of
/// the whole lattice, the same on all ranks; fields are the local part of the whole one.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/fields/field.hpp"

namespace quarksmith {

class Random;

/// Largest deviations from SU(N) over all links.
struct Unitarity {
  double unitary = 0;      ///< max |(U U^+ - 1)_ij|
  double determinant = 0;  ///< max |det U - 1|
};

/// \param may_vanish links that are zero deviate, as others do.
/// \throws BadData a link is zero, holds a number beyond 1e10, a NaN or an infinity; the message says which.
Unitarity check_unitarity(const HostGauge& gauge, Communicator& communicator = *Communicator::self(),
                          bool may_vanish = false);
/// Whether links that deviate so much count as SU(N): by no more than 1e-5.
bool is_su3(const Unitarity& deviation);
/// The deviations of links from SU(N). \throws NotSU3 they exceed 1e-5; the message says that `what` needs SU(N) links.
Unitarity require_su3(const HostGauge& gauge, std::string_view what, Communicator& communicator = *Communicator::self(),
                      std::string_view remedy = "give links of this group");
/// \throws NotSU3 a link deviates from unitarity by more than 1e-5.
void require_u3(const HostGauge& gauge, std::string_view what, Communicator& communicator = *Communicator::self());
/// \throws BadData a matrix is not finite, or farther than `limit`, relative, from anti-Hermitian and traceless; the
/// message begins with `what`.
void require_algebra(const HostGauge& matrices, std::string_view what,
                     Communicator& communicator = *Communicator::self(), double limit = 1e-5);
/// The default link storage: the one with the fewest reals that loses no more than rounding, r12 for three colours; all
/// reals if the links are not SU(N). \throws BadData as check_unitarity.
std::string_view default_links(const HostGauge& gauge, Communicator& communicator = *Communicator::self());

/// Links of a gauge field in temporal gauge (time links 1 but across the last slice), and the transformation that led
/// there; of three colours.
struct TemporalGauge {
  HostGauge gauge;
  /// The links in temporal gauge; time links are 1 up to rounding and the links' deviation from SU(3).
  HostGauge rotated;
  std::vector<Matrix3> transformation;  ///< g(x), lexicographic: U_mu(x) -> g(x) U_mu(x) g(x+mu)^+
};
/// g = 1 on the first slice, then g(t+1) = g(t) U_t(t), put back on SU(3). Fermion fields transform as psi -> g psi.
TemporalGauge fix_temporal_gauge(const HostGauge& gauge, Communicator& communicator = *Communicator::self());
/// \throws UsageError a time link before the last slice of the whole lattice is not exactly 1.
void require_temporal_gauge(const HostGauge& gauge, Communicator& communicator = *Communicator::self());

/// If all links that cross the last slice of a direction share a determinant other than the one that all others along
/// it share (a file with the sign of antiperiodic boundaries folded in), divides them by the N-th root of the ratio and
/// records that in `gauge.phase`.
/// \return true if a phase was moved.
bool fold_boundary_phases(HostGauge& gauge, Communicator& communicator = *Communicator::self());

/// The phase with which a link counts: gauge.phase[mu] across the last slice of the whole lattice, else 1.
/// \param x in this part.
Complex64 boundary_phase(const HostGauge& gauge, const Coordinates& x, int mu);

/// Averages over sites; plaquettes over planes too, normalised to 1 on unit links. Boundary phases do not count.
struct GaugeAverages {
  double plaquette = 0;
  double space_plaquette = 0;  ///< planes xy, xz, yz
  double time_plaquette = 0;   ///< planes xt, yt, zt
  double link_trace = 0;       ///< Re tr U / N
};
/// Averages of links on a device, by the kernel `plaquette` in double. On several ranks by host_averages, since a
/// kernel would need a halo whose sites it cannot leave out.
GaugeAverages gauge_averages(const LinkField& links);
/// Averages of links on the host, computed on the device of `domain`.
GaugeAverages gauge_averages(const HostGauge& gauge, const DomainPointer& domain);

// Generated fields: the links do not depend on the grid of ranks.

/// All links 1.
HostGauge unit_gauge(const Lattice& lattice, int colours = 3);
/// Links exp(i epsilon H) with H traceless and Hermitian: its N^2 - 1 coefficients in terms of generalised Gell-Mann
/// matrices, tr lambda_a lambda_b = 2, are Gaussian with unit variance. The same for any number of threads.
HostGauge weak_gauge(const Lattice& lattice, double epsilon, std::uint64_t seed, int colours = 3);
/// Links distributed with the Haar measure (Gram-Schmidt on Gaussian matrices).
HostGauge hot_gauge(const Lattice& lattice, std::uint64_t seed, int colours = 3);
/// Links of three colours as the test programs of QUDA draw them, not uniform in SU(3): real and imaginary parts of
/// rows 2 and 3 are uniform in [0, 1); row 2 is normalised, row 3 made orthogonal to it and normalised, row 1 is
/// conj(row 2 x row 3).
HostGauge peer_random_gauge(const Lattice& lattice, std::uint64_t seed);

/// c = a b for row-major matrices of n colours; c must differ from a and b.
void multiply(const Complex64* a, const Complex64* b, Complex64* c, int n);
Complex64 determinant(const Complex64* a, int n);
/// Makes the rows of a matrix orthonormal, beginning with the first, and multiplies the last by a phase so that the
/// determinant is 1.
void orthonormalise(Complex64* g, int n);
/// Row-major 3x3 products.
Matrix3 multiply(const Matrix3& a, const Matrix3& b);
Matrix3 adjoint(const Matrix3& a);
/// The SU(3) matrix of the first two rows, made orthonormal.
Matrix3 orthonormal(Matrix3 g);
Complex64 determinant(const Matrix3& a);

}  // namespace quarksmith
