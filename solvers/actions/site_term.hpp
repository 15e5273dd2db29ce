/// \file
/// The part of a Wilson-type action that does not hop.
#pragma once

#include <memory>

#include "solvers/actions/clover.hpp"
#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// A twisted mass beside the mass, in the same normalisation; tau act on two flavours.
struct Twist {
  double mu = 0;       ///< i mu gamma_5, or i mu gamma_5 tau_3 for two flavours
  double epsilon = 0;  ///< epsilon tau_1, two flavours alone
  int flavours = 1;    ///< 2: a doublet, whose flavours are the slices of a vector
  int source = 0;      ///< flavour of a doublet in which four-dimensional sources stand
  int sink = 0;        ///< flavour of a doublet that is its four-dimensional quark field

  /// T^-1 = (C - i mu gamma_5 tau_3 - epsilon tau_1) / (C^2 + shift) for T = C + i mu gamma_5 tau_3 + epsilon tau_1, C
  /// the mass and the clover term (R. Frezzotti and G. C. Rossi, hep-lat/0311008).
  double shift() const { return mu * mu - epsilon * epsilon; }
  /// False: neither term is there.
  bool any() const { return mu != 0 || flavours > 1; }
};

/// T of M = T - D/2 and T^-1, as the epilogues of hopping kernels take them (generator/operators/site_term.py). Where T
/// is a number, it is left to the plain kernels: `is_number`.
class SiteTerm {
 public:
  /// \param diagonal the part that is a number, not 0.
  /// \param clover null where there is none; made for `twist.shift()` if `twist.any()`.
  /// \throws UsageError T is singular.
  SiteTerm(double diagonal, const Twist& twist, std::shared_ptr<const CloverTerm> clover);

  bool is_number() const { return !clover_ && !twist_.any(); }
  double diagonal() const { return diagonal_; }
  int flavours() const { return twist_.flavours; }
  /// Makes a.a such that an epilogue applies factor T or its conjugate.
  void set(Arguments& a, double factor, Dagger dagger) const;
  /// Makes a.b such that an epilogue applies factor T^-1 or its conjugate.
  void set_inverse(Arguments& a, double factor, Dagger dagger) const;
  /// Makes a.b such that a kernel of T^-1 alone applies T. \throws UsageError T is not a clover term alone.
  void set_alone(Arguments& a) const;
  /// Sum over the sites of a parity of log |det T|, with all flavours.
  double log_det(Parity parity, long long sites) const;
  /// Null where there is none.
  const CloverTerm* clover() const { return clover_.get(); }

 private:
  double diagonal_;
  Twist twist_;
  std::shared_ptr<const CloverTerm> clover_;
};

}  // namespace quarksmith
