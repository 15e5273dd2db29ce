/// \file
/// A row of `solve-bench`.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "solvers/solve/shifted.hpp"

namespace quarksmith::runs {

/// The measurement for one solver, precision and batch.
struct TimedSolve {
  std::string solver, precision;
  int batch = 1, vectors = 0;  ///< right-hand sides; eigenvectors of the first guess
  std::vector<SolveReport> reports = {};
  std::vector<ShiftReport> shifts = {};  ///< for multishift: the reports with details of shifts
  double seconds = 0;                    ///< of the whole batch, the best of all repeats
  double megabytes = 0, host_share = 0;
  std::optional<double> hop_share = {};  ///< fraction of time in hopping terms; none: the device does not measure it

  int iterations() const { return most(&SolveReport::iterations); }
  double residual() const { return most(&SolveReport::residual); }
  double measured() const { return most(&SolveReport::measured); }
  int replacements() const { return most(&SolveReport::replacements); }
  /// Megabytes that one rank has sent in the whole solve.
  double megabytes_sent() const {
    double sum = 0;
    for (const SolveReport& r : reports) sum += 1e-6 * r.bytes_sent;
    return sum;
  }
  double gflops() const { return reports[0].gflops; }
  bool converged() const {
    return std::all_of(reports.begin(), reports.end(), [](const SolveReport& r) { return r.converged; });
  }

 private:
  template <class T>
  T most(T SolveReport::*member) const {
    T value = 0;
    for (const SolveReport& r : reports) value = std::max(value, r.*member);
    return value;
  }
};

}  // namespace quarksmith::runs
