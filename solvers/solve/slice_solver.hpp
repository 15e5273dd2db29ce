/// \file
/// Solves to a residual that is small on each time slice, beside the solution there.
#pragma once

#include <vector>

#include "solvers/solve/automatic.hpp"

namespace quarksmith {

/// |psi|^2 on each time slice of the whole lattice. Collective.
std::vector<double> slice_norms(const HostSpinor& psi, Communicator& communicator = *Communicator::self());

/// Solutions for heavy quarks fall by many orders of magnitude from their source, and where they are below |r| of the
/// whole lattice they are arbitrary. Yet r = b - M x is exact to rounding of x on neighbouring slices, since M is
/// local. So after a solve to the usual tolerance M e = P r is solved, where P keeps the slices on which |r| is still
/// too large, x becomes x + e, and so on: each correction is smaller by the tolerance. What P leaves out stays a small
/// part of x there, and what it causes elsewhere is as small a part of what x there causes.
class SliceSolver {
 public:
  /// \param solver,method outlive this.
  SliceSolver(SetSolver& solver, AutomaticSolver& method) : solver_(&solver), method_(&method) {}
  /// Solves with SolveSettings::slice_tolerance; as AutomaticSolver if that is 0.
  std::vector<SolveReport> solve(SpinorField& x, const SpinorField& b);

 private:
  struct Defect;
  Defect defect(SpinorField& r, const SpinorField& x, const SpinorField& b, HostSpinor& host) const;
  std::vector<double> norms(const SpinorField& vector, HostSpinor& host) const;
  std::vector<SolveReport> correct(SpinorField& e, const SpinorField& r);

  SetSolver* solver_;
  AutomaticSolver* method_;
};

}  // namespace quarksmith
