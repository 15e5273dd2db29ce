/// \file
/// Solves (A^+ A + sigma_k) x_k = b for a Dirac operator A and many shifts, with the settings of users.
#pragma once

#include "solvers/krylov/multishift.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith {

/// Report for one shift.
struct ShiftReport : SolveReport {
  double shift = 0;
  /// In the common Krylov space of all shifts; `iterations` includes those of the refinement as well.
  int shared_iterations = 0;
  double heavy_quark = 0;  ///< heavy-quark residual, if it was a criterion
};

/// Shifted normal equations of a Dirac operator. A is M, or its even-odd form on the
/// sites of one parity, whose shifted equations are not equivalent to those of M; of staggered quarks the block of M^+
/// M on these sites stands for A^+ A.
class ShiftedSolver {
 public:
  /// \param settings `method` is ignored; the tolerance is on |b - (A^+ A + sigma) x| / |b|.
  /// \param shifts largest number of shifts.
  /// \throws UsageError impossible settings or missing kernels; Error too little memory.
  ShiftedSolver(const Action& action, const GaugeLinks& gauge, DomainPointer domain, const SolveSettings& settings,
                int shifts);
  ~ShiftedSolver();

  /// \param x double, on the sites of subset(), one right-hand side for each shift; overwritten.
  /// \param b double, one right-hand side.
  std::vector<ShiftReport> solve(SpinorField& x, const SpinorField& b, const std::vector<double>& shifts) const {
    return solve_to(tolerance(), x, b, shifts);
  }
  /// The same for one shift, beginning with x; until the heavy-quark residual, the root of the mean over sites of
  /// |r(x)|^2 / |x(x)|^2 (1 where x is 0), has come down, too, if that is asked for: it sees sites far from the source.
  ShiftReport improve(SpinorField& x, const SpinorField& b, double shift) const;
  /// Other limits of later solves. \param heavy_quark 0: no criterion. \throws UsageError they are impossible.
  void limit(double tolerance, int max_iterations, double heavy_quark);
  /// See MultishiftSolver::go_together.
  void go_together();
  /// Sites on which b and x live: the even ones, or all if no even-odd form is used.
  Subset subset() const;
  const BasisInfo& basis() const;
  const DomainPointer& domain() const;
  /// A field like x and b, not initialised.
  SpinorField field(int rhs) const;
  /// Deviation of the stored links, see Solver::link_deviation.
  const LinkDeviation& link_deviation() const;
  /// Share of the time of all iterations so far in which the host was busy.
  double host_share() const;

 private:
  double tolerance() const;
  std::vector<ShiftReport> solve_to(double tolerance, SpinorField& x, const SpinorField& b,
                                    const std::vector<double>& shifts) const;
  double heavy_quark(const SpinorField& r, const SpinorField& x) const;
  ShiftReport correct(double tolerance, SpinorField& x, SpinorField& r, const SpinorField& b, double shift) const;
  double remainder(SpinorField& r, const SpinorField& x, const SpinorField& b, double shift) const;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace quarksmith
