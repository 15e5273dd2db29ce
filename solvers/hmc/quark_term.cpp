#include "solvers/hmc/quark_term.hpp"

#include <fmt/format.h>

#include "runtime/error.hpp"
#include "solvers/hmc/fermion_force.hpp"
#include "solvers/krylov/blas.hpp"

namespace quarksmith {

QuarkTerm::QuarkTerm(const FermionParameters& parameters, const EvolvingLinks& links, double tolerance)
    : links_(&links), operator_(parameters, {Method::cg, "double"}, true), tolerance_(tolerance) {
  if (!(tolerance > 0 && tolerance < 1))
    throw UsageError(fmt::format("tolerance {}; use a number between 0 and 1", tolerance));
  present();
}

FermionOperator& QuarkTerm::present() {
  operator_.follow(*links_);
  return operator_;
}

SpinorField QuarkTerm::field(int vectors) { return present().field(vectors); }

void QuarkTerm::multiply(SpinorField& out, const SpinorField& in, Dagger dagger) {
  if (operator_.is_squared())
    throw UsageError("staggered quarks have A = M^+ M alone; use a rational function of it for their noise");
  for (int n = 0; n < in.rhs(); ++n) {
    SpinorField one = out.columns(n, 1);
    present().matrix().apply(one, in.columns(n, 1), dagger);
  }
}

void QuarkTerm::apply(const RationalFunction& r, SpinorField& out, const SpinorField& in) {
  SolveWork work;
  const Blas blas(in.columns(0, 1));
  for (int n = 0; n < in.rhs(); ++n) {
    const SpinorField b = in.columns(n, 1);
    SpinorField sum = out.columns(n, 1);
    blas.scale(r.constant, b, sum);
    if (r.poles.empty()) continue;
    SpinorField x = field(static_cast<int>(r.poles.size()));
    present().solve_shifted(x, b, r.poles, std::vector(r.poles.size(), tolerance_), work);
    for (int k = 0; k < x.rhs(); ++k) blas.axpby(r.residues[k], x.columns(k, 1), 1, sum);
  }
}

double QuarkTerm::action(const RationalFunction& r, const SpinorField& phi) {
  SpinorField y = phi.like();
  apply(r, y, phi);
  double sum = 0;
  for (int n = 0; n < phi.rhs(); ++n) sum += Blas(y.columns(n, 1)).dot(phi.columns(n, 1), y.columns(n, 1)).real();
  return sum;
}

void QuarkTerm::add(FermionForce& force, const SpinorField& x, const SpinorField* y,
                    const std::vector<double>& weights) {
  if (operator_.is_squared()) return force.add_squared(x, weights);
  SpinorField weighted = x.like();
  for (int k = 0; k < x.rhs(); ++k) {
    SpinorField one = weighted.columns(k, 1);
    if (y == nullptr)
      operator_.matrix().apply(one, x.columns(k, 1), Dagger::no);
    else
      one.copy_from(y->columns(k, 1));
    Blas(one).scale(weights[k], one, one);
  }
  force.add(x, weighted, 1);
}

void QuarkTerm::force(const RationalFunction& r, const SpinorField& phi, double step, LinkField& p) {
  if (r.poles.empty()) return;
  SolveWork work;
  FermionForce force(present(), *links_);
  std::vector<double> weights = r.residues;
  for (double& w : weights) w *= step;
  SpinorField x = field(static_cast<int>(r.poles.size()));
  for (int n = 0; n < phi.rhs(); ++n) {
    operator_.solve_shifted(x, phi.columns(n, 1), r.poles, std::vector(r.poles.size(), tolerance_), work);
    add(force, x, nullptr, weights);
  }
  force.finish(p);
}

void QuarkTerm::force(const SpinorField& x, const SpinorField* y, const std::vector<double>& weights, double step,
                      LinkField& p) {
  if (operator_.is_squared() != (y == nullptr))
    throw UsageError(operator_.is_squared() ? "staggered quarks have the force of x alone; leave y out"
                                            : "the force needs y = M x beside x");
  FermionForce force(present(), *links_);
  std::vector<double> scaled = weights;
  for (double& w : scaled) w *= step;
  add(force, x, y, scaled);
  force.finish(p);
}

double QuarkTerm::log_det() { return present().log_det(); }

void QuarkTerm::log_det_force(double flavours, double step, LinkField& p) {
  FermionForce force(present(), *links_);
  force.add_log_det(flavours * step);
  force.finish(p);
}

}  // namespace quarksmith
