/// \file
/// What a Krylov solver sees of a Dirac operator.
#pragma once

#include <functional>

#include "runtime/field.hpp"

namespace quarksmith {

/// Whether a matrix or its Hermitian conjugate is meant.
enum class Dagger { no, yes };

/// out = A in for fields of one kind. Not safe for use from several threads: implementations own work space.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  /// `out` and `in` are different fields.
  virtual void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const = 0;
  /// Sites that the fields hold.
  virtual Subset subset() const = 0;
  virtual const DomainPointer& domain() const = 0;
  virtual const PrecisionInfo& precision() const = 0;
  /// Flops of one application, as the field counts them.
  virtual double flops() const = 0;
};

/// Options of an iterative solver.
struct SolverOptions {
  double tolerance = 1e-10;    ///< |b - A x| / |b|
  int max_iterations = 10000;  ///< at least 1
  /// Called after each iteration with its number and the relative residual that the recurrence has.
  std::function<void(int iteration, double residual)> observer;
};

/// What an iterative solver did.
struct SolverResult {
  int iterations = 0;
  double residual = 0;  ///< |b - A x| / |b|, recomputed at the end in the precision of the fields
  bool converged = false;
  int applications = 0;  ///< of A or A^+
};

}  // namespace quarksmith
