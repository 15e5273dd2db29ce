/// \file
/// Solves for many masses in one Krylov space.
#pragma once

#include <memory>
#include <vector>

#include "solvers/krylov/multishift.hpp"
#include "solvers/solve/solve.hpp"
#include "solvers/actions/action.hpp"

namespace quarksmith {

/// Solves (t_k + h D) x_k = b for numbers t_k of several masses and D^+ = -D, as of staggered quarks. With M M^+ = t^2
/// - h^2 D^2, which does not mix parities, x_k = (t_k - h D) y_k and (t_k^2 - h^2 D^2) y_k = b on each parity that b is
/// not zero on: systems that differ by multiples of 1 (solvers/krylov/multishift.hpp). The residual of y_k is that of
/// x_k.
class MassSolver {
 public:
  /// \param action; its mass is ignored.
  /// \param settings `precision` is double or double-...; method and even-odd form are ignored.
  /// \throws UsageError the action does not have this form, settings are impossible, a mass is out of range, or kernels
  /// are missing.
  MassSolver(const Action& action, std::vector<double> masses, const GaugeLinks& gauge, const DomainPointer& domain,
             const SolveSettings& settings);
  ~MassSolver();

  /// \param x double, all sites, one right-hand side for each mass in their order; overwritten.
  /// \param b double, all sites, one right-hand side.
  std::vector<SolveReport> solve(SpinorField& x, const SpinorField& b) const;
  /// Deviation of the stored links, see Solver::link_deviation.
  const LinkDeviation& link_deviation() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace quarksmith
