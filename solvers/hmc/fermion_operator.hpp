/// \file
/// The Dirac operator of a monomial on the changing links of a trajectory, and solves with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "solvers/actions/action.hpp"
#include "solvers/hmc/fermion_solvers.hpp"
#include "solvers/hmc/links.hpp"

namespace quarksmith {

class TwistedOperator;

/// Action, even-odd form and twist of an operator.
struct FermionParameters {
  Action action;
  EvenOddForm even_odd_form = EvenOddForm::none;
  StatedSmearing smearing = {};
  /// Not 0: M + i twist gamma_5 replaces M, on the sites of its even-odd form; for the symmetric form see
  /// solvers/actions/even_twist.hpp.
  double twist = 0;
};

/// M on the links of a trajectory, or A = M^+ M if the even-odd form is that (staggered quarks); rebuilt when the links
/// have changed.
class FermionOperator {
 public:
  /// \param shifted whether solve_shifted will be called.
  FermionOperator(const FermionParameters& parameters, const FermionSolver& solver, bool shifted = false);
  ~FermionOperator();
  FermionOperator(FermionOperator&&) noexcept;
  FermionOperator& operator=(FermionOperator&&) noexcept;

  const FermionParameters& parameters() const { return parameters_; }
  /// Forgets what earlier solves have found, at the start of a trajectory.
  void forget() { solvers_->forget(); }
  /// Rebuilds the operator on the present links, if they have changed.
  void follow(const EvolvingLinks& links);
  /// M, or A = M^+ M. This and all functions below use the links of the last call of follow().
  const LinearOperator& matrix() const;
  bool is_squared() const { return parameters_.action.is_squared() && parameters_.even_odd_form != EvenOddForm::none; }
  /// Adds the force of -2 weight Re y^+ dM x, summed over right-hand sides. The second function, for A = M^+ M, adds
  /// that of -residue x^+ dA x, with a residue for each right-hand side.
  void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const;
  void add_squared_force(ForceSink& force, const SpinorField& x, const std::vector<double>& residues) const;
  const DiracOperator& dirac() const;
  /// A field on which the operator acts. \param rhs number of right-hand sides.
  SpinorField field(int rhs = 1) const { return matrix().field(rhs); }
  /// Sum of log |det T| over the sites that the even-odd form eliminates or multiplies by T^-1: the odd ones if it is
  /// asymmetric, all if symmetric. 0 if T does not depend on the links.
  double log_det() const;
  double log_det(Parity parity) const;

  // \throws Error a solve misses its tolerance; MissingKernel the build lacks the precision that was asked for.
  /// x = (M^+ M)^-1 b and y = M x, which is (M^+)^-1 b to the tolerance; x is the first guess.
  void solve_normal(SpinorField& x, SpinorField& y, const SpinorField& b, double tolerance, SolveWork& work);
  /// x = (M^+)^-1 b; x is the first guess.
  void solve_adjoint(SpinorField& x, const SpinorField& b, double tolerance, SolveWork& work);
  /// x_k = (M^+ M + shift_k)^-1 b
  void solve_shifted(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts,
                     const std::vector<double>& tolerances, SolveWork& work);
  /// Smallest and largest Ritz value of the last solve, see FermionSolvers.
  std::optional<std::pair<double, double>> ritz_values() const;

 private:
  struct Level;
  struct Parts;
  template <class Solve>
  void timed(SolveWork& work, const Solve& solve);
  FermionSolvers& solvers();
  CycleOperators cycles();
  const Action& conjugate_action(const DiracOperator& single);
  LinkStore compact(const LinkStore& links) const;
  FermionParameters parameters_;
  std::string precision_;  ///< that of FermionSolver, or its default if that is empty
  int rhs_;
  std::unique_ptr<FermionSolvers> solvers_;
  std::unique_ptr<Action> conjugate_;  ///< the action whose M' has M^+ = gamma_5 M' gamma_5; null until needed
  std::unique_ptr<Parts> parts_;
};

}  // namespace quarksmith
