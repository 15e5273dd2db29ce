/// \file
/// The interface of an operator for Krylov solvers.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Whether a matrix or its Hermitian conjugate is meant.
enum class Dagger { no, yes };

/// Scalar products over the sites of this rank that the last kernel of an application, out = A in, computes as well.
struct ProductSums {
  /// (shadow, out) and |in|^2; or (out, in), |out|^2, |in|^2, (shadow, in), (shadow, out).
  enum class Kind { shadow, all };
  Kind kind;
  const SpinorField* shadow;  ///< a field like `out`
  double* rows = nullptr;     ///< in device memory: ProductArguments (runtime/kernels/arguments.hpp)
  /// Scalars of the right-hand sides in device memory (Scalars): sums and A skip those that are not active.
  double* scalars = nullptr;
  int scalar_stride = 0;
};

/// A linear operator, out = A in, for any number of right-hand sides up to the one it was made for. Not safe for use
/// from several threads: implementations own work space.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  /// `out` and `in` are different fields.
  virtual void apply(SpinorField& out, const SpinorField& in, Dagger dagger) const = 0;
  /// Applies A and computes sums, if there is a kernel for both. \return false: nothing has been done.
  virtual bool apply_summing(SpinorField& /*out*/, const SpinorField& /*in*/, Dagger, const ProductSums&) const {
    return false;
  }
  /// Number of groups of sites, each with partial sums in ProductSums::rows for each right-hand side; 0: there is no
  /// kernel that computes sums.
  virtual int sum_groups() const { return 0; }
  /// Sites that the fields hold.
  virtual Subset subset() const = 0;
  virtual const DomainPointer& domain() const = 0;
  virtual const PrecisionInfo& precision() const = 0;
  /// Colour vectors of a site and their colours; slices() is the number of four-dimensional fields of a vector.
  virtual Components components() const { return {}; }
  int spins() const { return components().spins; }
  virtual int slices() const { return 1; }
  /// A field on which A acts, not initialised. \param stored precision of the field; by default that of A.
  SpinorField field(int rhs, const PrecisionInfo& stored) const {
    return {domain(), stored, subset(), rhs, components(), slices()};
  }
  SpinorField field(int rhs = 1) const { return field(rhs, precision()); }
  /// Flops of one application to one right-hand side, as the field counts them.
  virtual double flops() const = 0;
  /// Bytes that each rank sends to others in one application to one right-hand side.
  virtual double bytes_sent() const { return 0; }
};

/// How an iteration in low precision is kept to the residual in high precision.
enum class Updates {
  /// The residual is replaced by the true one when it has fallen by delta below its largest value since the last time
  /// (G. L. G. Sleijpen and H. A. van der Vorst, Computing 56 (1996) 141); the Krylov space is kept.
  reliable,
  /// The residual is replaced when its estimated deviation outgrows the square root of the precision (H. A. van der
  /// Vorst and Q. Ye, SIAM J. Sci. Comput. 22 (2000) 835).
  replacement,
  /// A new Krylov space for each correction, which is solved for to delta.
  defect
};

/// The quantity compared with the tolerance: |b - A x| / |b|, or |A^+ (b - A x)| / |A^+ b|.
enum class Criterion { residual, normal };

/// Options of an iterative solver.
struct SolverOptions {
  double tolerance = 1e-10;
  int max_iterations = 10000;  ///< of each right-hand side; at least 1
  Criterion criterion = Criterion::residual;
  Updates updates = Updates::reliable;
  double delta = 0;    ///< see Updates; 0: chosen by the precision
  int look_ahead = 2;  ///< iterations that a GPU has been given when the host looks at the first of them; 1 ... 8
  /// Called after each iteration with the largest number of iterations and the largest relative residual that the
  /// recurrences have.
  std::function<void(int iteration, double residual)> observer;
  /// Called for each right-hand side after each of its iterations.
  std::function<void(int rhs, int iteration, double residual)> rhs_observer;
};

/// A failure during a solve, and how the solver has continued.
struct SolverEvent {
  int iteration = 0;
  std::string what;  ///< what happened and what was done
};

/// Result of an iterative solver for one right-hand side.
struct SolverResult {
  int iterations = 0;
  double residual = 0;  ///< |b - A x| / |b|, recomputed in the higher precision
  double measured = 0;  ///< what the tolerance is compared with
  bool converged = false;
  int applications = 0;        ///< of A or A^+ in the precision of the iteration
  int exact_applications = 0;  ///< of A or A^+ in the higher precision
  int replacements = 0;        ///< of the residual
  int vectors = 0;             ///< eigenvectors from earlier right-hand sides that this one began with
  std::string trouble;         ///< why it was given up before the limit of iterations; empty if it was not
  std::vector<SolverEvent> events;

  /// Adds the result of a solve that has continued this one.
  void append(const SolverResult& more) {
    for (SolverEvent event : more.events) {
      event.iteration += iterations;
      events.push_back(std::move(event));
    }
    iterations += more.iterations;
    applications += more.applications;
    exact_applications += more.exact_applications;
    replacements += more.replacements;
    vectors = std::max(vectors, more.vectors);
    residual = more.residual;
    measured = more.measured;
    converged = more.converged;
    trouble = more.trouble;
  }
};

}  // namespace quarksmith
