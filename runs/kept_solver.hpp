/// \file
/// Solves whose right-hand sides a program has in memory, with the options of `propagator`.
#pragma once

#include <memory>

#include "runs/deflation.hpp"
#include "runs/solve.hpp"

namespace quarksmith::runs {

/// Solves with an action on links.
struct InversionDescription : Description {
  ActionDescription action;
  SolveDescription solve{action};
  DeflationDescription deflate;
  int batch = 0;  ///< right-hand sides solved together; 0: as many as fit

  void list(Members& members) override;
};

/// Numbers of quarks on all sites, in double precision.
struct QuarkNumbers {
  SpinorField& field;
  const BasisInfo& basis;  ///< in which they are stored
};
/// As `to` is: on its domain, in its basis.
void move_columns(const SpinorField& from, const BasisInfo& basis, const QuarkNumbers& to);

/// An action on a gauge field, ready to solve.
class KeptSolver {
 public:
  /// \param description that was filled, and outlives it as the session does, which takes its lines.
  /// \param domain of right-hand sides. The near-null vectors of mg_save are written here.
  /// \param begins solves begin with what x holds, where they can.
  KeptSolver(const InversionDescription& description, const NamedGauge& named, const DomainPointer& domain, bool begins,
             Session& session);

  /// M x = b for all right-hand sides. \param x takes the solutions. \throws UsageError the fields do not fit.
  std::vector<SolveReport> solve(const QuarkNumbers& x, const SpinorField& b, const BasisInfo& basis) const;
  /// What is said of the first right-hand side that missed its tolerance; empty if there is none.
  std::string failure(const std::vector<SolveReport>& reports) const;

  /// Whether solves begin with what x holds.
  bool begins() const { return settings_.from_guess; }
  const Action& action() const { return choice_.action; }
  const Provenance& provenance() const { return choice_.provenance; }
  const BasisInfo& basis() const { return solver_->basis(); }
  const DomainPointer& domain() const { return domain_; }
  /// \throws UsageError a field is of another lattice, or of other quarks; `name` is what the caller calls it.
  void check(const SpinorField& given, const char* name) const;
  /// \throws UsageError they do not begin with what x holds; the message names both options.
  void require_guess(const char* guess, const char* deflate) const;

 private:
  std::vector<SolveReport> some(const QuarkNumbers& x, const SpinorField& b, const BasisInfo& basis) const;

  const InversionDescription& d_;
  Session& session_;
  Lattice lattice_;
  ActionChoice choice_;
  SolveSettings settings_;
  DomainPointer domain_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace quarksmith::runs
