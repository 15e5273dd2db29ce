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

/// On which sites a method works: all, or the even ones in one of two forms (solvers/actions/even_odd.hpp).
enum class Reduction { none, symmetric, asymmetric };

/// Takes derivatives of -2 weight Re chi^+ M psi by the fields of M, all right-hand sides, psi and chi on all sites
/// (solvers/hmc/fermion_force.hpp).
class ForceSink {
 public:
  virtual ~ForceSink() = default;
  /// Of the hops h D of M; vectors of several slices are right-hand sides.
  virtual void add_hops(const SpinorField& psi, const SpinorField& chi, double weight) = 0;
  /// Of the part of T that is made of fields.
  virtual void add_site_term(const SpinorField& psi, const SpinorField& chi, double weight) = 0;
  /// -factor d log |det T| of the sites of a parity, for each of so many flavours.
  virtual void add_log_det(const StoredTerm& term, Parity parity, double factor) = 0;
  /// Of a formula as it stands.
  virtual void add_formula(const SpinorField& psi, const SpinorField& chi, double weight) = 0;
};

/// A form of M in which methods iterate.
class DiracMatrix : public LinearOperator {
 public:
  /// Adds the force of -2 weight Re y^+ dA x, A this operator: all right-hand sides.
  virtual void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const = 0;
  /// Whether some of its hops lead along several directions.
  virtual bool turns_corners() const { return false; }
};

/// An operator on the even sites whose systems stand for those of the full matrix M (T. A. DeGrand and P. Rossi,
/// Comput. Phys. Commun. 60 (1990) 211).
class ReducedOperator : public DiracMatrix {
 public:
  Subset subset() const override { return Subset::even; }
  /// Right-hand side of the reduced system; `b` holds all sites.
  virtual void prepare(SpinorField& reduced, const SpinorField& b) const = 0;
  /// Solution of M x = b from that of the reduced system.
  virtual void reconstruct(SpinorField& x, const SpinorField& reduced, const SpinorField& b) const = 0;
  /// About |residual of M| / |residual of the reduced system|: what a tolerance is divided by.
  virtual double residual_scale() const { return 1; }
  /// True if it is Hermitian and positive and stands for M^+ M: conjugate gradients work on it as it stands.
  virtual bool hermitian() const { return false; }
  /// Of those the force of -sum_k residues[k] x_k^+ dA x_k. \throws UsageError it is not Hermitian.
  virtual void add_squared_force(ForceSink& force, const SpinorField& x, const std::vector<double>& residues) const;
  /// out = T in on the even sites, T what a symmetric form was divided by. \throws UsageError it has none.
  virtual void multiply_term(SpinorField& out, const SpinorField& in) const;
};

/// One action in one precision on a device. Operators refer to it.
class DiracOperator {
 public:
  virtual ~DiracOperator() = default;
  /// M on all sites.
  virtual const DiracMatrix& matrix() const = 0;
  /// Its even-odd form for up to `rhs` right-hand sides; `form` is not Reduction::none.
  /// \throws UsageError the action does not have that form.
  virtual std::unique_ptr<ReducedOperator> reduced(Reduction form, int rhs) const = 0;
  /// Of actions with M M^+ = t^2 - h^2 D^2 for a number t: that on the sites of one parity, and the operator for other
  /// values of the parameters on the same links. \throws UsageError M is none of these, which is what the default says.
  virtual std::unique_ptr<ReducedOperator> square(Parity parity, int rhs) const;
  virtual std::unique_ptr<DiracOperator> with(const ActionValues& values) const;
  /// The operator of this rank's part alone: hops that leave it find zero (M. Luescher, Comput. Phys. Commun. 156
  /// (2004) 209).
  /// \throws UsageError the action has none, which is what the default says.
  virtual std::unique_ptr<DiracOperator> dirichlet() const;
  /// Fields of half the sites that each right-hand side of a reduced operator needs as work space.
  virtual int work_fields() const { return 1; }

  /// The fields of the action, and its parameters.
  virtual const ActionFields& fields() const = 0;
  const ActionValues& values() const;
  /// The part of T that is made of fields; null where there is none.
  virtual const StoredTerm* stored_term() const { return nullptr; }
  /// Sum of log |det T| over the sites of a parity where T depends on fields, else 0.
  virtual double log_det(Parity) const { return 0; }

  /// True if vectors are not quark fields in four dimensions: `embed` and `project` lead there and back.
  virtual bool embeds() const { return false; }
  /// Right-hand side of M x = b for a quark source in four dimensions; the default copies it.
  virtual void embed(SpinorField& b, const SpinorField& source) const;
  /// Four-dimensional quark field of a solution; the default copies it.
  virtual void project(SpinorField& quark, const SpinorField& x) const;
  /// The quark field in the middle of a fifth dimension, of actions that have one: Action::has_midpoint.
  /// \throws UsageError there is none, which is what the default says.
  virtual void midpoint(SpinorField& quark, const SpinorField& x) const;
};

/// Operators of several flavours, which are the slices of a vector.
class FlavouredDirac : public DiracOperator {
 public:
  /// \param source,sink flavours in which four-dimensional sources stand, and that are quark fields.
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
  /// \param dirac outlives this. \param rhs right-hand sides at most.
  SystemOperator(const DiracOperator& dirac, Reduction reduction, int rhs) : matrix_(&dirac.matrix()) {
    if (reduction != Reduction::none) even_odd_ = dirac.reduced(reduction, rhs);
  }
  const DiracMatrix& a() const { return even_odd_ ? *even_odd_ : *matrix_; }
  const DiracMatrix& matrix() const { return *matrix_; }
  /// Null on all sites.
  const ReducedOperator* even_odd() const { return even_odd_.get(); }

 private:
  const DiracMatrix* matrix_;
  std::unique_ptr<ReducedOperator> even_odd_;
};

}  // namespace quarksmith
