/// \file
/// Solves M x = b to a true residual, with the choices a user makes.
#pragma once

#include <memory>
#include <string>

#include "solvers/wilson.hpp"

namespace quarksmith {

/// Krylov methods.
enum class Method { cg, bicgstab };
/// On which sites the method works.
enum class Reduction { none, symmetric, asymmetric };

/// \throws UnknownName the name is unknown; the message lists those that exist.
Method method_of(const std::string& name);
Reduction reduction_of(const std::string& name);

/// Choices of a solve.
struct SolveSettings {
  Method method = Method::bicgstab;
  Reduction reduction = Reduction::symmetric;
  /// `double` or `single`: of all fields and kernels; `double-single`, `double-half`: corrections are solved for in the
  /// second. The residual reported is recomputed in double.
  std::string precision = "double";
  std::string links = "r12";
  std::string basis = "non_relativistic";
  SolverOptions options;  ///< tolerance: |b - M x| / |b| of the full system
};

/// What a solve did.
struct SolveReport {
  int iterations = 0;
  double residual = 0;  ///< |b - M x| / |b| of the full system in double
  bool converged = false;
  double seconds = 0;
  double gflops = 0;  ///< of the operator applications, by the counts of the field
};

/// A Wilson operator on a device, ready to solve for many sources.
class WilsonSolver {
 public:
  /// \throws UsageError impossible settings or missing kernels; Error too little memory.
  WilsonSolver(const HostGauge& gauge, DomainPointer domain, const WilsonParameters& parameters,
               const SolveSettings& settings);
  ~WilsonSolver();

  /// x = M^-1 b for fields of double precision on all sites in the basis of the settings; x is overwritten.
  SolveReport solve(SpinorField& x, const SpinorField& b) const;
  /// |b - M x| / |b| in double.
  double residual(const SpinorField& x, const SpinorField& b) const;
  /// The clover term in double, null if the action has none.
  const CloverTerm* clover() const;
  const BasisInfo& basis() const;
  const DomainPointer& domain() const;

 private:
  SolveReport solve_in_working_gauge(SpinorField& x, const SpinorField& b) const;

  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace quarksmith
