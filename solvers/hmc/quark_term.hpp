/// \file
/// Actions and forces of quarks for programs with their own molecular dynamics: they pass vectors, and momenta to which
/// forces are added (docs/forces.md).
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
  /// \param links must outlive this, which follows their changes.
  /// \param tolerance of solves, on |b - (A + shift) x| / |b|.
  QuarkTerm(const FermionParameters& parameters, const EvolvingLinks& links, double tolerance);

  /// A field of vectors on which the operator acts. \param vectors number of right-hand sides.
  SpinorField field(int vectors);
  /// out = M in or M^+ in. \throws UsageError the quarks are staggered: only A = M^+ M is available.
  void multiply(SpinorField& out, const SpinorField& in, Dagger dagger);
  /// out = r(A) in, all poles in one Krylov space. \throws Error a solve misses the tolerance.
  void apply(const RationalFunction& r, SpinorField& out, const SpinorField& in);
  /// phi^+ r(A) phi, summed over the vectors.
  double action(const RationalFunction& r, const SpinorField& phi);
  /// Adds the force of phi^+ r(A) phi; all poles of a vector in one pass over the links.
  void force(const RationalFunction& r, const SpinorField& phi, double step, LinkField& p);
  /// Adds the force of -2 sum_k weights[k] Re y_k^+ dM x_k: with x = (M^+ M)^-1 phi, y = M x and weight 1 that of
  /// phi^+ (M^+ M)^-1 phi. For staggered quarks y is null, and the force is that of -sum_k weights[k] x_k^+ dA x_k.
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
