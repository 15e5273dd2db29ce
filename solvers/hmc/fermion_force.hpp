/// \file
/// Forces of fermions, by the expressions that follow from the statements of actions (docs/forces.md).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "runtime/fields/expression.hpp"
#include "solvers/hmc/fermion_operator.hpp"
#include "solvers/links/link_force.hpp"

namespace quarksmith {

/// Sums the force terms of operators with the same smeared links, and takes them back to the thin links.
class FermionForce final : public ForceSink {
 public:
  /// \param fermion has followed the links; both outlive this.
  FermionForce(const FermionOperator& fermion, const EvolvingLinks& links);
  ~FermionForce() override;

  /// Switches to another operator, to which later terms belong.
  /// \throws UsageError its links have another smearing.
  void go_on_with(const FermionOperator& fermion);
  /// Whether two operators have the same smearing of links.
  static bool alike(const FermionOperator& one, const FermionOperator& other) {
    return one.parameters().smearing == other.parameters().smearing;
  }

  /// Adds the force of -2 weight Re Y^+ dM X, summed over right-hand sides.
  void add(const SpinorField& x, const SpinorField& y, double weight) { fermion_->add_force(*this, x, y, weight); }
  /// As add, for operators A = M^+ M: adds the force of -residue X^+ dA X for each right-hand side.
  void add_squared(const SpinorField& x, const std::vector<double>& residues) {
    fermion_->add_squared_force(*this, x, residues);
  }
  /// Adds -flavours d log |det T| on the sites of one parity.
  void add_log_det(Parity parity, double flavours);
  /// Adds the force of the log det term of a monomial's action, on the sites that the even-odd form leaves out.
  void add_log_det(double flavours);
  /// out += step dP/dtau of all that was added.
  /// \return number of links whose projection on U(3) was damped.
  long long finish(LinkField& out, double step = 1);

 private:
  class Part;
  void add_hops(const SpinorField& psi, const SpinorField& chi, double weight) override;
  void add_site_term(const SpinorField& psi, const SpinorField& chi, double weight) override;
  void add_log_det(const StoredTerm& term, Parity parity, double factor) override;
  void add_formula(const SpinorField& psi, const SpinorField& chi, double weight) override;
  void take_through_smearing();

  const FermionOperator* fermion_ = nullptr;
  const EvolvingLinks* links_;
  StatedSmearing smearing_;
  std::shared_ptr<const LinkField> u_;                  ///< the links of configurations of the operators' statements
  std::shared_ptr<LinkField> z_;                        ///< [U G]_TA / 2 for these links
  std::map<std::string, std::unique_ptr<Part>> parts_;  ///< by the smearing of the operator's links
  Part* part_ = nullptr;                                ///< of the present operator
};

}  // namespace quarksmith
