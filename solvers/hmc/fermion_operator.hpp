/// \file
/// The Dirac operator of a monomial on links that move, and solves with it.
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
  /// M + i twist gamma_5 instead of M, on its sites; of the symmetric form, which has no `mu`, M + i twist gamma_5 T_ee
  /// (even_twist.hpp).
  double twist = 0;
};

/// M, or where the even-odd form is that (staggered quarks) A = M^+ M, on the links of a trajectory; made anew when
/// these have moved.
class FermionOperator {
 public:
  /// \param shifted it serves solve_shifted too.
  FermionOperator(const FermionParameters& parameters, const FermionSolver& solver, bool shifted = false);
  ~FermionOperator();
  FermionOperator(FermionOperator&&) noexcept;
  FermionOperator& operator=(FermionOperator&&) noexcept;

  const FermionParameters& parameters() const { return parameters_; }
  /// A new trajectory begins.
  void forget() { solvers_->forget(); }
  /// Brings it to the present links.
  void follow(const EvolvingLinks& links);
  /// M, or A where that stands for M^+ M. What follows is that of the last links that it followed.
  const LinearOperator& matrix() const;
  bool is_squared() const { return parameters_.action.is_squared() && parameters_.even_odd_form != EvenOddForm::none; }
  /// Adds the force of -2 weight Re y^+ dM x, all right-hand sides; or where A stands for M^+ M, of -residue x^+ dA x
  /// for each of them.
  void add_force(ForceSink& force, const SpinorField& x, const SpinorField& y, double weight) const;
  void add_squared_force(ForceSink& force, const SpinorField& x, const std::vector<double>& residues) const;
  const DiracOperator& dirac() const;
  /// Fields of its sites. \param rhs vectors.
  SpinorField field(int rhs = 1) const { return matrix().field(rhs); }
  /// Sum of log |det T| over the sites that are left out of M, and those that T^-1 multiplies: odd ones if asymmetric,
  /// all if symmetric. 0 where T does not depend on the links.
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
  /// See FermionSolvers.
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
  std::string precision_;  ///< as FermionSolver has it, and what that means where it is empty
  int rhs_;
  std::unique_ptr<FermionSolvers> solvers_;
  std::unique_ptr<Action> conjugate_;  ///< whose M' has M^+ = gamma_5 M' gamma_5, once it was looked for
  std::unique_ptr<Parts> parts_;
};

}  // namespace quarksmith
