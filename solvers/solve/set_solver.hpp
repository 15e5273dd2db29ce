/// \file
/// Solves several right-hand sides at once, to the true residual of the full system.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solvers/solve/system_solver.hpp"

namespace quarksmith {

/// Converts right-hand sides on all sites in double to the system on which methods iterate, and solutions back, until
/// each true residual meets its tolerance, or no method makes further progress.
class SetSolver {
 public:
  /// \param gauge in which the solver works.
  /// \throws UsageError impossible settings or missing kernels; Error too little memory.
  SetSolver(const Action& action, const WorkingGauge& gauge, const DomainPointer& domain,
            const SolveSettings& settings);
  SetSolver(const SetSolver&) = delete;
  SetSolver& operator=(const SetSolver&) = delete;

  /// Requests all kernels that a solver and its solves need, on few sites.
  static void rehearse(const Action& action, const SolveSettings& settings, const Domain& domain, int colours);

  SolveSettings& settings() { return course_.settings; }
  const SolveCourse& course() const { return course_; }
  /// Switches to another method, and allocates its work space.
  void use(Method method, bool falls_back);
  /// Makes later solves begin with the precision to which an earlier one was raised.
  void learn_precision() { learns_ = true; }

  OperatorLevels& levels() { return levels_; }
  SystemSolver& system() { return system_; }
  /// Allocates work space for `rhs` right-hand sides.
  void prepare(int rhs);
  std::vector<SolveReport> solve(SpinorField& x, const SpinorField& b);

 private:
  void rehearse() const;
  void check_deflation(const WorkingGauge& gauge);
  void reserve(int rhs);
  void reduce(IteratedSystem& system, const SpinorField& full_b, const std::vector<double>& b_norm);
  bool tighten(std::span<SystemColumn> columns, const std::vector<double>& residuals) const;
  std::vector<SolveReport> reports_of(std::span<const SystemColumn> columns, const std::vector<double>& residuals,
                                      double elapsed) const;
  std::string precision_text(const PrecisionInfo& inner) const;
  void learn(std::span<const SystemColumn> columns);

  SolveCourse course_;
  OperatorLevels levels_;
  SystemSolver system_;
  bool learns_ = false;
  int capacity_ = 0;  ///< right-hand sides for which there is work space
  std::optional<SpinorField> reduced_x_, reduced_b_, outer_x_, outer_b_;
};

}  // namespace quarksmith
