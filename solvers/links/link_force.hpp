/// \file
/// Derivatives by the fields that a statement makes, taken back to the links of a configuration: the launches of its
/// program in reverse (docs/forces.md).
#pragma once

#include "solvers/links/link_program.hpp"

namespace quarksmith {

/// Half the derivatives of an action by fields of a statement, dS = 2 sum Re tr(dV g), added up and taken back.
class LinkForce {
 public:
  /// \param fields those that are kept, as LinkProgram::make leaves them. All outlive this.
  LinkForce(const LinkProgram& program, const StatementFields& fields, const ScratchFields& scratch);

  /// The derivative by a field; zero at first.
  LinkField& by(int field);
  /// The derivative by a field that has none yet: the caller sets all matrices of it.
  LinkField& set_by(int field);
  bool has(int field) const { return by_[field] != nullptr; }
  int colours() const { return fields_[0]->colours(); }
  /// Takes them back to the field number 0, the links of a configuration. Of these the derivative by them is added to
  /// `by(0)`, and what kernels give as a force at once, [U G]_TA / 2, to z. Collective.
  /// \return links whose projection on U(3) was damped: those with small eigenvalues.
  long long back(LinkField& z);

 private:
  class Stage;
  const LinkProgram& program_;
  const StatementFields& fields_;
  const ScratchFields& scratch_;
  std::vector<std::shared_ptr<LinkField>> by_;
};

}  // namespace quarksmith
