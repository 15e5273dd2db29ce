/// \file
/// The choice of Method::automatic between BiCGstab and multigrid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solvers/krylov/method.hpp"
#include "solvers/multigrid/parameters.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith {

/// Cost of multigrid in units of applications of M to a vector.
struct MultigridCost {
  double setup, solve;
};
/// \param flops of an application of M to a vector. \param asynchronous whether the device is a GPU, on which coarse
/// levels take a larger part of the time.
/// \param corners whether M also couples blocks that touch only at edges and corners.
MultigridCost cost_of(const MultigridParameters& parameters, const Lattice& lattice, double flops, bool asynchronous,
                      bool corners = false);

/// The choice between BiCGstab and multigrid. It depends only on numbers of iterations, so that it is reproducible.
/// From time to time the iterations that BiCGstab needs to its tolerance are estimated, assuming that log(residual)
/// continues to fall at the same rate. Multigrid is chosen if its setup and solves are estimated at less than 1/margin
/// of the remaining work of BiCGstab, for the right-hand sides under way and all that are known to come. A solve that
/// ends before the first estimate, as those of all but light quarks do, has no additional cost.
struct Weighing {
  MultigridCost cost;
  int left;       ///< right-hand sides still to be solved, including those under way
  Method method;  ///< the method of BiCGstab
  bool falls_back;

  static constexpr int first_estimate = 96, every = 32;  ///< iterations
  static constexpr double margin = 1.25;
  static constexpr int most_iterations = 200;  ///< most iterations of multigrid, after which BiCGstab takes over again

  /// \param residual relative, so far. \param width right-hand sides under way.
  bool pays(int iteration, double residual, double tolerance, int width) const;
  /// Estimated total number of iterations of BiCGstab.
  static double estimate(int iteration, double residual, double tolerance);
};

class SetSolver;

/// Solves with the method of a SetSolver; Method::automatic switches to multigrid if that pays, and back if multigrid
/// fails.
class AutomaticSolver {
 public:
  /// \param solver outlives this. \param gauge_is_given whether it works in the gauge of the given links.
  AutomaticSolver(SetSolver& solver, bool gauge_is_given);
  std::vector<SolveReport> solve(SpinorField& x, const SpinorField& b);

 private:
  void take_multigrid(int iterations);
  void leave_multigrid(const std::string& why);
  std::vector<SolveReport> solve_weighed(SpinorField& x, const SpinorField& b);
  std::vector<SolveReport> solve_by_multigrid(SpinorField& x, const SpinorField& b);

  SetSolver* solver_;
  std::optional<Weighing> weighing_;  ///< only if multigrid could replace the method
};

}  // namespace quarksmith
