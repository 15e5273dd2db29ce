/// \file
/// Actions and forces of quarks for programs with molecular dynamics of their own: vectors in, momenta added to
/// (docs/forces.md).
#pragma once

#include <vector>

#include "solvers/hmc/fermion_operator.hpp"
#include "solvers/hmc/rational.hpp"

namespace quarksmith {

class FermionForce;

/// S = phi^+ r(A) phi with A = M^+ M for vectors phi of the caller; r(A) = 1/A for two flavours. Vectors are
/// right-hand sides of fields of the operator, forces are added to momenta: p += step dP/dtau.
class QuarkTerm {
 public:
  /// \param links outlive this; it follows them.
  /// \param tolerance of solves, on |b - (A + shift) x| / |b|.
  QuarkTerm(const FermionParameters& parameters, const EvolvingLinks& links, double tolerance);

  /// A field of its vectors.
  SpinorField field(int vectors);
  /// out = M in or M^+ in. \throws UsageError staggered quarks: A stands for M^+ M.
  void multiply(SpinorField& out, const SpinorField& in, Dagger dagger);
  /// out = r(A) in, all poles in one Krylov space. \throws Error a solve misses the tolerance.
  void apply(const RationalFunction& r, SpinorField& out, const SpinorField& in);
  /// The sum of phi^+ r(A) phi.
  double action(const RationalFunction& r, const SpinorField& phi);
  /// Adds the force; all poles of a vector in one pass over the links.
  void force(const RationalFunction& r, const SpinorField& phi, double step, LinkField& p);
  /// The force of -2 sum_k weights[k] Re y_k^+ dM x_k: x = (M^+ M)^-1 phi and y = M x with weight 1 are those of
  /// phi^+ (M^+ M)^-1 phi. Of staggered quarks that of -sum_k weights[k] x_k^+ dA x_k, y null.
  void force(const SpinorField& x, const SpinorField* y, const std::vector<double>& weights, double step, LinkField& p);
  /// log |det T| over the sites that the even-odd form leaves out, and the force of -flavours times that.
  double log_det();
  void log_det_force(double flavours, double step, LinkField& p);

 private:
  /// The operator on the present links.
  FermionOperator& present();
  void add(FermionForce& force, const SpinorField& x, const SpinorField* y, const std::vector<double>& weights);

  const EvolvingLinks* links_;
  FermionOperator operator_;
  double tolerance_;
};

}  // namespace quarksmith
