/// \file
/// Quark propagators on a device.
#pragma once

#include <array>
#include <memory>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// S(x; source), all columns of it as right-hand sides of one field in double: column 3 s' + c' is the solution for
/// source spin s' and colour c', in the DeGrand-Rossi basis; of staggered quarks, which have one spin, three.
class Propagator {
 public:
  /// Zero.
  explicit Propagator(const DomainPointer& domain, int spins = 4);

  const Lattice& lattice() const { return field_.domain().lattice(); }
  Communicator& communicator() const { return field_.domain().communicator(); }
  int spins() const { return field_.spins(); }
  int columns() const { return field_.rhs(); }
  SpinorField& field() { return field_; }
  const SpinorField& field() const { return field_; }

  void set_column(int column, const HostSpinor& solution);
  void set_column(int spin, int colour, const HostSpinor& solution) { set_column(3 * spin + colour, solution); }
  void get_column(int column, HostSpinor& solution) const;
  /// Sets columns from `first` on to solutions on the device. \param basis of the solutions.
  void take(int first, const SpinorField& solutions, const BasisInfo& basis);
  /// Copies columns from `first` on, converted to a basis. \param to as many columns as it has right-hand sides.
  void give(int first, SpinorField& to, const BasisInfo& basis) const;

 private:
  SpinorField field_;
};

/// Converts spinors on all sites in double to the basis of propagators, or from it.
void to_propagator_basis(const SpinorField& from, SpinorField& to, const BasisInfo& basis);
void from_propagator_basis(const SpinorField& from, SpinorField& to, const BasisInfo& basis);

/// U_mu(x) S(x + mu), with the phase of hops over the boundary. \param links with all reals. Collective.
Propagator ahead_of(const Propagator& s, int mu, const std::shared_ptr<const LinkField>& links,
                    const std::array<Complex64, directions>& boundary);

}  // namespace quarksmith
