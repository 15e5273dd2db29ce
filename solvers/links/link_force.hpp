/// \file
/// Derivatives by smeared links and other made fields, taken back to the links of a configuration: the launches of the
/// statement's program in reverse (docs/forces.md).
#pragma once

#include "solvers/links/link_program.hpp"

namespace quarksmith {

/// Sums half the derivatives g of an action by fields V of a statement, dS = 2 sum Re tr(dV g), and takes them back to
/// the links.
class LinkForce {
 public:
  /// \param fields kept fields, as made by LinkProgram::make. All must outlive this.
  LinkForce(const LinkProgram& program, const StatementFields& fields, const ScratchFields& scratch);

  /// The derivative by a field; zero at first.
  LinkField& by(int field);
  /// The derivative by a field that has none yet, not initialised: the caller must set all its matrices.
  LinkField& set_by(int field);
  bool has(int field) const { return by_[field] != nullptr; }
  int colours() const { return fields_[0]->colours(); }
  /// Takes the derivatives back to field 0, the links of the configuration: derivatives are added to `by(0)`; forces [U
  /// G]_TA / 2, which some kernels compute directly, to z. Collective.
  /// \return number of links whose projection on U(3) was damped because of small eigenvalues.
  long long back(LinkField& z);

 private:
  class Stage;
  const LinkProgram& program_;
  const StatementFields& fields_;
  const ScratchFields& scratch_;
  std::vector<std::shared_ptr<LinkField>> by_;
};

}  // namespace quarksmith
