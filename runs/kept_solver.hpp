/// \file
/// Solves for right-hand sides in memory of a calling program, with the options of `propagator`.
#pragma once

#include <memory>

#include "runs/deflation.hpp"
#include "runs/solve.hpp"

namespace quarksmith::runs {

/// Options of such solves.
struct InversionDescription : Description {
  ActionDescription action;
  SolveDescription solve{action};
  DeflationDescription deflate;
  int batch = 0;      ///< right-hand sides solved together; 0: as many as fit
  std::string split;  ///< groups of ranks along x, y, z, t that solve for different right-hand sides; empty: one

  void list(Members& members) override;
};

/// A quark field on all sites, in double precision.
struct QuarkNumbers {
  SpinorField& field;
  const BasisInfo& basis;  ///< in which they are stored
};
/// Copies quark fields to the domain and basis of `to`.
void move_columns(const SpinorField& from, const BasisInfo& basis, const QuarkNumbers& to);

/// An action on a gauge field, ready to solve.
class KeptSolver {
 public:
  /// Sets the solver up, and writes near-null vectors if mg_save names a file.
  /// \param description filled, must outlive this. \param session for messages, must outlive this.
  /// \param domain of right-hand sides. \param begins whether solves take x as first guess, if the method can.
  /// \param near_null with which multigrid begins; null: those of mg_load, or noise.
  KeptSolver(const InversionDescription& description, const NamedGauge& named, const DomainPointer& domain, bool begins,
             Session& session, std::shared_ptr<const NearNullVectors> near_null = nullptr);

  virtual ~KeptSolver() = default;
  /// Solves M x = b for all right-hand sides. \param x solutions. \throws UsageError the fields do not fit.
  std::vector<SolveReport> solve(const QuarkNumbers& x, const SpinorField& b, const BasisInfo& basis) const;
  /// The message for the first right-hand side that missed its tolerance; empty if all met it.
  std::string failure(const std::vector<SolveReport>& reports) const;

  /// Other limits of later solves. \throws UsageError they are impossible.
  void limit(double tolerance, int max_iterations);
  /// Sets multigrid up, where that is the method; else \throws UsageError.
  const Multigrid& multigrid() const;

  /// Whether solves take x as first guess.
  bool begins() const { return settings_.from_guess; }
  const Action& action() const { return choice_.action; }
  const Provenance& provenance() const { return choice_.provenance; }
  const BasisInfo& basis() const { return solver_->basis(); }
  /// Of right-hand sides.
  virtual const DomainPointer& domain() const { return domain_; }
  virtual const Lattice& lattice() const { return lattice_; }
  /// \param name of the field in messages. \throws UsageError it is of another lattice, or of other quarks.
  void check(const SpinorField& given, const char* name) const;
  /// \throws UsageError solves do not take x as first guess; the message names both options.
  void require_guess(const char* guess, const char* deflate) const;

 protected:
  virtual std::vector<SolveReport> solve_all(const QuarkNumbers& x, const SpinorField& b, const BasisInfo& basis) const;

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
