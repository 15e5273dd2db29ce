/// \file
/// Solves (A^+ A + sigma_k) x_k = b for a Dirac operator A and many shifts, with the settings of users.
#pragma once

#include "solvers/krylov/multishift.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith {

/// Report for one shift.
struct ShiftReport : SolveReport {
  double shift = 0;
  int shared_iterations = 0;  ///< in the Krylov space of all shifts; `iterations` counts those that followed too
};

/// Shifted normal equations of a Dirac operator of one flavour in four dimensions. A is M, or with an even-odd
/// reduction the reduced operator on the even sites: no reduction turns the shifted equations of M into those.
class ShiftedSolver {
 public:
  /// \param settings `method` is of no meaning; a tolerance means |b - (A^+ A + sigma) x| / |b|.
  /// \param shifts at most.
  /// \throws UsageError impossible settings or missing kernels; Error too little memory.
  ShiftedSolver(const Action& action, const HostGauge& gauge, DomainPointer domain, const SolveSettings& settings,
                int shifts);
  ~ShiftedSolver();

  /// \param x double, on the sites of subset(), one right-hand side for each shift; overwritten.
  /// \param b double, one right-hand side.
  std::vector<ShiftReport> solve(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts) const;
  /// Sites on which b and x live: the even ones, or all if no even-odd form is used.
  Subset subset() const;
  const BasisInfo& basis() const;
  const DomainPointer& domain() const;
  /// See Solver::link_deviation.
  const LinkDeviation& link_deviation() const;
  /// Share of the time of all iterations so far in which the host was busy.
  double host_share() const;

 private:
  double residual(const SpinorField& x, const SpinorField& b, double shift) const;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace quarksmith
