/// \file
/// Dirac operators as solvers and forces see them.
#pragma once

#include <memory>
#include <vector>

#include "runtime/error.hpp"
#include "solvers/krylov/linear_operator.hpp"

namespace quarksmith {

class ActionFields;
class ActionValues;
class StoredTerm;

/// Phases that multiply the hops across the last slice of each direction.
using BoundaryPhases = std::array<Complex64, directions>;
/// exp(i pi angle), exactly real for integers.
Complex64 phase_of(double angle);

/// The form of the operator that a method works on: on all sites, or one of two even-odd forms
/// (solvers/actions/even_odd.hpp).
enum class EvenOddForm { none, symmetric, asymmetric };

/// Sums derivatives of -2 weight Re chi^+ M psi by the fields of M, over all right-hand sides; psi and chi are on all
/// sites (solvers/hmc/fermion_force.hpp).
class ForceSink {
 public:
  virtual ~ForceSink() = default;
  /// Adds the derivative of the hops h D of M; vectors of several slices are right-hand sides.
  virtual void add_hops(const SpinorField& psi, const SpinorField& chi, double weight) = 0;
  /// Adds the derivative of the field-dependent part of T.
  virtual void add_site_term(const SpinorField& psi, const SpinorField& chi, double weight) = 0;
  /// Adds -factor d log |det T| of the sites of a parity, for each flavour.
  virtual void add_log_det(const StoredTerm& term, Parity parity, double factor) = 0;
  /// Adds the derivative of an operator that is a formula without hops and site term.
  virtual void add_formula(const SpinorField& psi, const SpinorField& chi, double weight) = 0;
};

/// A form of M in which methods iterate.
class DiracMatrix : public LinearOperator {
 public:
  /// Adds the force of -2 weight Re y^+ dA x, summed over right-hand sides, where A is this operator.
  virtual void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const = 0;
  /// Whether some hops lead along several directions.
  virtual bool turns_corners() const { return false; }
};

/// The even-odd form: an operator on the even sites, whose solutions give those of M x = b (T. A. DeGrand and P. Rossi,
/// Comput. Phys. Commun. 60 (1990) 211).
class EvenOddOperator : public DiracMatrix {
 public:
  Subset subset() const override { return Subset::even; }
  /// Right-hand side of the even-odd system; `b` holds all sites.
  virtual void prepare(SpinorField& reduced, const SpinorField& b) const = 0;
  /// Solution of M x = b from that of the even-odd system.
  virtual void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const = 0;
  /// Estimate of |residual of M| / |residual of the even-odd form|, by which tolerances are divided.
  virtual double residual_scale() const { return 1; }
  /// Whether the form is a Hermitian and positive block of M^+ M, so that conjugate gradients work on it directly.
  virtual bool hermitian() const { return false; }
  /// For Hermitian forms, adds the force of -sum_k residues[k] x_k^+ dA x_k.
  /// \throws UsageError the form is not Hermitian.
  virtual void add_squared_force(ForceSink& force, const SpinorField& x, const std::vector<double>& residues) const;
  /// out = T in on the sites of the form, the T by which a symmetric form was divided. \throws UsageError it has none.
  virtual void multiply_term(SpinorField& out, const SpinorField& in) const;
};

/// One action in one precision on a device. Operators refer to it.
class DiracOperator {
 public:
  virtual ~DiracOperator() = default;
  /// M on all sites.
  virtual const DiracMatrix& matrix() const = 0;
  /// The even-odd form for up to `rhs` right-hand sides; `form` is not EvenOddForm::none.
  /// \param kept the sites that it acts on. \throws UsageError the action does not have that form.
  virtual std::unique_ptr<EvenOddOperator> even_odd_operator(EvenOddForm form, int rhs,
                                                             Parity kept = Parity::even) const = 0;
  /// For actions with M M^+ = t^2 - h^2 D^2, t a number: M M^+ on the sites of one parity, and the operator with other
  /// values of the parameters on the same links.
  /// \throws UsageError M is not of this kind (the default).
  virtual std::unique_ptr<EvenOddOperator> square(Parity parity, int rhs) const;
  virtual std::unique_ptr<DiracOperator> with(const ActionValues& values) const;
  /// The operator of the local lattice alone: hops that leave it find zero (M. Luescher, Comput. Phys. Commun. 156
  /// (2004) 209).
  /// \throws UsageError the action has none (the default).
  virtual std::unique_ptr<DiracOperator> dirichlet() const;
  /// Work space of an even-odd form: number of fields on half the sites, for each right-hand side.
  virtual int work_fields() const { return 1; }

  /// The fields of the action, and its parameters.
  virtual const ActionFields& fields() const = 0;
  const ActionValues& values() const;
  /// The field-dependent part of T; null if there is none.
  virtual const StoredTerm* stored_term() const { return nullptr; }
  /// Sum of log |det T| over the sites of a parity where T depends on fields, else 0.
  virtual double log_det(Parity) const { return 0; }

  /// Whether vectors are not just quark fields in four dimensions, so that `embed` and `project` convert.
  virtual bool embeds() const { return false; }
  /// Right-hand side of M x = b for a quark source in four dimensions; the default copies it.
  virtual void embed(SpinorField& b, const SpinorField& source) const;
  /// Four-dimensional quark field of a solution; the default copies it.
  virtual void project(SpinorField& quark, const SpinorField& x) const;
  /// The quark field in the middle of a fifth dimension, for actions with Action::has_midpoint.
  /// \throws UsageError there is none (the default).
  virtual void midpoint(SpinorField& quark, const SpinorField& x) const;
};

/// Operators of several flavours, which are the slices of a vector.
class FlavouredDirac : public DiracOperator {
 public:
  /// \param source,sink flavour of four-dimensional sources, and flavour that is taken as the quark field.
  FlavouredDirac(int source, int sink) : source_(source), sink_(sink) {}
  bool embeds() const override { return matrix().slices() > 1; }
  void embed(SpinorField& b, const SpinorField& source) const override;
  void project(SpinorField& quark, const SpinorField& x) const override;

 protected:
  int source_, sink_;
};

/// M in the form that methods iterate with: on all sites, or one of its even-odd forms.
class SystemOperator {
 public:
  /// \param dirac outlives this. \param rhs right-hand sides at most. \param kept sites of an even-odd form.
  SystemOperator(const DiracOperator& dirac, EvenOddForm even_odd_form, int rhs, Parity kept = Parity::even)
      : matrix_(&dirac.matrix()) {
    if (even_odd_form != EvenOddForm::none) even_odd_ = dirac.even_odd_operator(even_odd_form, rhs, kept);
  }
  const DiracMatrix& a() const { return even_odd_ ? *even_odd_ : *matrix_; }
  const DiracMatrix& matrix() const { return *matrix_; }
  /// The even-odd form; null if methods work on all sites.
  const EvenOddOperator* even_odd() const { return even_odd_.get(); }

 private:
  const DiracMatrix* matrix_;
  std::unique_ptr<EvenOddOperator> even_odd_;
};

}  // namespace quarksmith
