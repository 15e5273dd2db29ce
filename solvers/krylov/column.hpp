/// \file
/// State of the right-hand sides of a batch (batch.cpp, residual_replacement.cpp), and functions that solvers share.
#pragma once

#include <algorithm>
#include <cmath>

#include "solvers/krylov/batch.hpp"

namespace quarksmith {

constexpr int ring = 8;  ///< snapshots kept of scalars
constexpr const char* no_progress = "no progress";
/// Message if the true residual exceeds that of the recurrence by drift_to_leave: conjugate gradients then converge
/// ever more slowly.
constexpr const char* drifted = "the recurrence leaves the true residual";
constexpr double drift_to_leave = 1.25;
constexpr int patience = 500;  ///< iterations without a new least residual that count as stagnation

/// Iterations enqueued before the host looks at the first.
inline int look_ahead(const Device& device, const SolverOptions& options) {
  return device.asynchronous() ? std::clamp(options.look_ahead, 1, ring) : 1;
}

/// One right-hand side under way.
struct KrylovBatch::Column {
  int index = 0;  ///< in x and b
  double tolerance = 0;
  int limit = 0;         ///< of iterations
  double b_norm = 0;     ///< |b|
  double b_measure = 0;  ///< |b|, or |A^+ b|
  double measured = INFINITY, best = INFINITY, best_residual = INFINITY, best_norm = INFINITY;
  double rr = 0;                ///< |residual|^2 of the recurrence at the last replacement
  double rate = 0.5;            ///< factor by which |residual|^2 falls in an iteration
  double least = 0;             ///< least |residual|^2 since the last replacement
  double milestone = INFINITY;  ///< relative residual when it last had halved, and that iteration
  int milestone_at = 0;
  int replaced_at = 0, least_at = 0, seen = 0, waited = 0, failures = 0;
  bool done = false, restart = true, saved = false, hopeless = false;
  bool from_zero = false;  ///< x was 0: the first residual is b
  std::string trouble;     ///< why the residual is to be replaced, if not because the column stopped
  SolverResult result;
};

/// Consecutive positions whose columns are consecutive, too.
struct KrylovBatch::Run {
  int first = 0, count = 0;
  bool correct = false;  ///< whether there is a correction to add
};

/// One call of solve.
struct KrylovBatch::Task {
  SpinorField* x;
  const SpinorField* b;
  const SolverOptions* options;
  std::vector<Column> columns = {};  ///< by position
  int width = 0;
  std::vector<SolverResult> results = {};

  bool needs_normal = false;  ///< whether A^+ r is needed for every residual
};

/// Relative rounding error of a precision.
inline double rounding(const PrecisionInfo& p) {
  if (p.bits == 64) return 0x1p-53;
  return p.bits == 32 ? 0x1p-24 : std::ldexp(1.0, -p.bits);
}

/// The least relative residual that iterations aim at with an operator of this relative error, if a more precise one
/// continues.
inline double attainable(double error) { return 30 * error; }
inline double attainable(const PrecisionInfo& p) { return attainable(rounding(p)); }

/// Norms from their squares.
inline std::vector<double> roots(std::vector<double> squares) {
  for (double& v : squares) v = std::sqrt(v);
  return squares;
}

}  // namespace quarksmith
