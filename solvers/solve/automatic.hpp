/// \file
/// When Method::automatic takes multigrid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solvers/krylov/method.hpp"
#include "solvers/multigrid/parameters.hpp"
#include "solvers/solve/solve.hpp"

namespace quarksmith {

/// Cost of multigrid in applications of M to a vector, all other work converted into them.
struct MultigridCost {
  double setup, solve;
};
/// \param flops of M to a vector. \param asynchronous of a GPU, where coarse levels take more of the time.
/// \param corners M hops to blocks that touch at edges and corners, too.
MultigridCost cost_of(const MultigridParameters& parameters, const Lattice& lattice, double flops, bool asynchronous,
                      bool corners = false);

/// The choice between BiCGstab and multigrid. It goes by numbers of iterations alone, so that the same solves are made
/// in the same way on any day: now and then the iterations that BiCGstab takes to its tolerance are estimated from what
/// they have achieved, log(residual) falling as it did so far. Multigrid is taken if its setup and its solves are
/// estimated at less than 1/margin of what BiCGstab has still to do, for the right-hand sides that are under way and
/// all that are known to come. A solve that ends before the first estimate, as those of all but light quarks do, costs
/// nothing more than it did.
struct Weighing {
  MultigridCost cost;
  int left;       ///< right-hand sides that are to come, with those under way
  Method method;  ///< BiCGstab's
  bool falls_back;

  static constexpr int first_estimate = 96, every = 32;  ///< iterations
  static constexpr double margin = 1.25;
  static constexpr int most_iterations = 200;  ///< of multigrid; then BiCGstab takes over again

  /// \param residual that is left of 1. \param width right-hand sides under way.
  bool pays(int iteration, double residual, double tolerance, int width) const;
  /// Estimated total number of iterations of BiCGstab.
  static double estimate(int iteration, double residual, double tolerance);
};

class SetSolver;

/// Solves with the method of a SetSolver; Method::automatic goes on with multigrid where that pays, and back where that
/// fails.
class AutomaticSolver {
 public:
  /// \param solver outlives this. \param gauge_is_given it works in the gauge of the links as they were given.
  AutomaticSolver(SetSolver& solver, bool gauge_is_given);
  std::vector<SolveReport> solve(SpinorField& x, const SpinorField& b);

 private:
  void take_multigrid(int iterations);
  void leave_multigrid(const std::string& why);
  std::vector<SolveReport> solve_weighed(SpinorField& x, const SpinorField& b);
  std::vector<SolveReport> solve_by_multigrid(SpinorField& x, const SpinorField& b);

  SetSolver* solver_;
  std::optional<Weighing> weighing_;  ///< where multigrid could take the place of the method
};

}  // namespace quarksmith
