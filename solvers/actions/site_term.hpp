/// \file
/// The site term of an action.
#pragma once

#include <memory>

#include "solvers/actions/stored_term.hpp"
#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

/// T of M = T + h D and T^-1, as the epilogues of hopping kernels take them (generator/operators/site_term.py): a
/// number, for which plain kernels are used (`is_number`); i mu gamma_5 (tau_3) + epsilon tau_1 beside a number or a
/// stored term C, with
///   T^-1 = (C - i mu gamma_5 tau_3 - epsilon tau_1) / (C^2 + mu^2 - epsilon^2)
/// (R. Frezzotti and G. C. Rossi, hep-lat/0311008); or any constant matrix in flavour and spin, which is inverted here.
class SiteTerm {
 public:
  /// \param stored the part made of fields; null where there is none.
  SiteTerm(const ActionValues& values, std::shared_ptr<const StoredTerm> stored, const DomainPointer& domain,
           const PrecisionInfo& precision, const BasisInfo& basis);
  /// The shift of StoredTerm: mu^2 - epsilon^2 if there is a twisted mass besides it.
  static std::optional<double> shift_of(const ActionValues& values);
  /// Whether T can be inverted, as far as its constant part decides; true if T depends on links or fields.
  static bool has_inverse(const ActionValues& values);

  bool is_number() const { return !stored_ && !twisted_ && !matrix_; }
  /// The part that is a number.
  double diagonal() const { return diagonal_; }
  /// Estimate of |T|.
  double size() const { return size_; }
  int flavours() const { return flavours_; }
  /// Sets a.a so that an epilogue applies factor T or its conjugate.
  void set(Arguments& a, double factor, Dagger dagger) const;
  /// Sets a.b so that an epilogue applies factor T^-1 or its conjugate. \throws UsageError T is singular.
  void set_inverse(Arguments& a, double factor, Dagger dagger) const;
  /// Whether a kernel of T^-1 alone applies T, too.
  bool stands_alone() const;
  /// Sets a.b so that a kernel of T^-1 alone applies T. \throws UsageError there is no such kernel, as with a twisted
  /// mass.
  void set_alone(Arguments& a) const;
  /// Sum over the sites of a parity of log |det T|, with all flavours. \param sites of a parity.
  double log_det(Parity parity, long long sites) const;
  bool is_invertible() const { return invertible_; }
  /// The part made of fields; null where there is none.
  const StoredTerm* stored() const { return stored_.get(); }

 private:
  /// T, T^+, T^-1, (T^-1)^+ as numbers of the kernel's arithmetic; the latter if there is an inverse.
  struct Matrix {
    std::array<Memory, 4> elements;
    double log_det;
  };
  double shift() const { return mu_ * mu_ - epsilon_ * epsilon_; }
  const void* element(bool inverse, Dagger dagger) const {
    return matrix_->elements[2 * inverse + (dagger == Dagger::yes)].data();
  }
  void require_inverse() const;

  double diagonal_, mu_, epsilon_, size_;
  int flavours_;
  bool twisted_, invertible_ = true;
  std::string text_;
  std::shared_ptr<const StoredTerm> stored_;
  std::shared_ptr<const Matrix> matrix_;
};

}  // namespace quarksmith
