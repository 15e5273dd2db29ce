/// \file
/// Forces of fermions, by the expressions that follow from the statements of actions (docs/forces.md).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "runtime/fields/expression.hpp"
#include "solvers/hmc/fermion_operator.hpp"

namespace quarksmith {

/// Adds up terms of the force of operators on the present links, smeared in one way, and takes them back to the thin
/// links.
class FermionForce {
 public:
  /// \param fermion has followed the links; both outlive this.
  FermionForce(const FermionOperator& fermion, const EvolvingLinks& links);

  /// What is added from now on is of another operator.
  /// \throws UsageError its links are smeared in another way.
  void go_on_with(const FermionOperator& fermion);
  /// Whether the links of two operators are made in one way.
  static bool alike(const FermionOperator& one, const FermionOperator& other);

  /// Adds what weight -2 Re Y^+ dM X gives for vectors of the operator, all right-hand sides.
  void add(const SpinorField& x, const SpinorField& y, double weight);
  /// The same for staggered quarks: what -residue X^+ dA X gives for each right-hand side.
  void add_squared(const SpinorField& x, const std::vector<double>& residues);
  /// Adds -flavours d log |det T| on the sites of one parity.
  void add_log_det(Parity parity, double flavours);
  /// As the action of a monomial has it, on the sites that the even-odd form of its operator leaves out.
  void add_log_det(double flavours);
  /// out += step dP/dtau of all that was added.
  /// \return links whose projection on U(3) was damped.
  long long finish(LinkField& out, double step = 1);

 private:
  void hops(const SpinorField& psi, const SpinorField& chi, double weight);
  void site_term(const SpinorField& psi, const SpinorField& chi, double weight);
  void field_strengths();
  /// The first of both fields, which are there from now on.
  LinkField& magnetic();
  std::shared_ptr<LinkField> cleared() const;
  /// A vector of the full matrix from one of the reduced operator.
  SpinorField completed(const SpinorField& even, Dagger dagger) const;
  SpinorField completed_on_slices(const SpinorField& even, Dagger dagger) const;

  const FermionOperator* fermion_ = nullptr;
  const EvolvingLinks* links_;
  std::shared_ptr<const LinkField> u_;              ///< of the operators
  std::shared_ptr<LinkField> z_;                    ///< [U G]_TA / 2 of these
  std::shared_ptr<LinkField> magnetic_, electric_;  ///< derivatives by field strengths
  std::shared_ptr<LinkField> by_fat_, by_long_;
  ExpressionSettings settings_;
  std::map<std::string, double, std::less<>> numbers_;  ///< parameters of the action
};

}  // namespace quarksmith
