/// \file
/// An interpreter of the formulas of lattice expressions, as they stand in the registry: dense matrices at every site
/// in plain complex double, shifts as whole fields moved. Shares no line with generator or kernels.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/fields/field.hpp"

namespace reference {

/// A matrix at every site, row-major: 1x1 for numbers, 3x3, 4x4 in spin, or 3 x spins for a spinor.
struct SiteValues {
  int rows = 1, columns = 1;
  std::vector<quarksmith::Complex64> element;
  bool spin = false;     ///< it acts on spins: 4x4
  bool fermion = false;  ///< boundaries give it a phase
  quarksmith::Complex64& at(long long site, int row, int column) {
    return element[(site * rows + row) * columns + column];
  }
  const quarksmith::Complex64& at(long long site, int row, int column) const {
    return element[(site * rows + row) * columns + column];
  }
};

/// What a formula works on and what it gives: `psi`, `u[x]`, `kappa`, `out[t]`; sums in order.
struct ExpressionValues {
  explicit ExpressionValues(const quarksmith::Lattice& l) : lattice(l) {}
  quarksmith::Lattice lattice;
  std::map<std::string, SiteValues> value;
  std::array<quarksmith::Complex64, 4> boundary{1, 1, 1, 1};
  std::vector<double> sums;
  /// What the calls of summed(...) were given, in their order.
  std::vector<SiteValues> given;
  /// x, y, z or t of `mu` in u[mu] and shift(..., +mu).
  std::map<std::string, char> direction;

  void set(const std::string& name, quarksmith::Complex64 number);
  void set(const std::string& name, const quarksmith::HostSpinor& psi, int spins, bool fermion = false);
  /// A product of gamma matrices by its bits.
  void set_gammas(const std::string& name, int number);
  /// A matrix in spin and colour from its columns, row 3 s + c; of three columns one in colour.
  void set_propagator(const std::string& name, const std::vector<quarksmith::HostSpinor>& columns);
  /// The first number of each site.
  void set_numbers(const std::string& name, const quarksmith::HostSpinor& numbers);
  /// All four directions, name[x] ... name[t].
  void set(const std::string& name, const quarksmith::HostGauge& u);
};

/// Runs the statements, separated by `; `, for each of several right-hand sides; `summed(v)` is the sum of v over
/// these. \throws std::runtime_error what cannot be read.
void run_expression(const std::string& formula, std::span<ExpressionValues> values);

/// (m - m^+)/2 without its trace.
quarksmith::Matrix3 algebra_part(const quarksmith::Matrix3& m);
/// exp(m) of one matrix by its series, scaled and squared.
quarksmith::Matrix3 exponential(const quarksmith::Matrix3& m);
/// The part in the algebra of the integral over s of exp((1 - s) m) c exp(s m), by its double series: what c is for
/// exp(m), this is for m.
quarksmith::Matrix3 exponential_adjoint(const quarksmith::Matrix3& m, const quarksmith::Matrix3& c);
/// The unitary factor of the polar decomposition, by Newton's iteration u <- (u + u^-+)/2.
quarksmith::Matrix3 polar_part(quarksmith::Matrix3 u);
/// 2 Y W^+ with Y H + H Y the anti-Hermitian part of c W, m = W H with W unitary: Y is the integral of
/// exp(-t H) (...) exp(-t H) over all positive t.
quarksmith::Matrix3 nearest_unitary_adjoint(const quarksmith::Matrix3& m, const quarksmith::Matrix3& c);
/// Whether the inverse eigenvalues of m^+ m add up to more than 1/(5e-5).
bool has_small_eigenvalues(const quarksmith::Matrix3& m);
/// The SU(3) matrix that maximises Re tr(u^+ m): steps along the gradient from the identity's neighbourhood of m's
/// polar part, until the gradient vanishes.
quarksmith::Matrix3 closest_su3(const quarksmith::Matrix3& m);
/// Hits of three SU(2) subgroups that maximise Re tr(U m), over-relaxed.
quarksmith::Matrix3 relaxed(const quarksmith::Matrix3& m, double boost);

}  // namespace reference
