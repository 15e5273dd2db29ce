/// \file
/// The Krylov methods by name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/krylov/recurrence.hpp"

namespace quarksmith {

/// Krylov methods. `cg` works on the normal equations in the form CGNR.
enum class Method {
  automatic,  ///< BiCGstab; where it breaks down or stagnates CG on the normal equations from its best iterate
  cg,
  cgne,
  mr,
  gcr,
  bicgstab,
  bicgstab_l,
  block_cg,  ///< conjugate gradients in one Krylov space (solvers/krylov/block_cg.hpp), then each by itself as with cg
  hermitian_cg  ///< for a Hermitian A and the systems (A + sigma) x = b, positive definite
};

/// \throws UnknownName the name is unknown; the message lists those that exist.
Method method_of(const std::string& name);
/// `cg`, `bicgstab`, ...; what `method_of` takes.
const char* name_of(Method method);
/// All of them.
std::vector<std::string_view> method_names();

/// A fixed number of steps of a method, started from zero.
struct InnerMethod {
  Method method = Method::mr;
  int steps = 4;
  bool schwarz = false;  ///< of each rank by itself, without its neighbours
};

/// `none`, METHOD:STEPS, as `mr:4`, or schwarz-METHOD:STEPS.
/// \throws UsageError other text.
std::optional<InnerMethod> preconditioner_of(const std::string& text);

/// Numbers that methods need.
struct MethodParameters {
  int restart = 10;  ///< directions that GCR keeps, 1 ... most_directions
  int l = 2;         ///< degree of the minimal residual polynomial of BiCGstab(l), 1 ... 4
  double omega = 1;  ///< over-relaxation of MR; between 0 and 2
  /// What GCR applies to its residual, if anything.
  std::optional<InnerMethod> preconditioner = std::nullopt;

  static constexpr int most_directions = 32;
};

/// \throws UsageError a number is out of range, or the method takes no preconditioner.
void check(Method method, const MethodParameters& parameters);

/// A recurrence for up to `rhs` right-hand sides.
/// \param a,inner the operator of the recurrence, and of its preconditioner (another precision, or `a` again); they
/// outlive it, as the scalars do.
std::unique_ptr<Recurrence> make_recurrence(Method method, const MethodParameters& parameters, const LinearOperator& a,
                                            const LinearOperator& inner, Scalars& scalars, int rhs);

/// Spinor fields that a right-hand side needs: of the recurrence and of its preconditioner.
struct FieldCount {
  int recurrence = 0, preconditioner = 0;
};
FieldCount fields_of(Method method, const MethodParameters& parameters);

}  // namespace quarksmith
