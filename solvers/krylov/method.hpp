/// \file
/// The Krylov methods by name.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/listed.hpp"
#include "solvers/krylov/outer_solver.hpp"
#include "solvers/krylov/recurrence.hpp"

namespace quarksmith {

struct MethodKind;
class Preconditioner;

/// A Krylov method by its file. `cg` works on the normal equations in the form CGNR.
class Method {
 public:
  constexpr explicit Method(const MethodKind& kind) : kind_(&kind) {}
  const MethodKind* operator->() const { return kind_; }
  friend constexpr bool operator==(const Method&, const Method&) = default;
  friend constexpr auto operator<=>(const Method&, const Method&) = default;

  /// Methods that the library itself uses by name.
  static const Method automatic;  ///< BiCGstab; where it fails CG on the normal equations from its best iterate
  static const Method bicgstab, bicgstab_l, cg, cgne, gcr, mr, multigrid;
  static const Method block_cg;  ///< in one Krylov space (solvers/krylov/block_cg.hpp), then each by itself as with cg
  static const Method eigcg;  ///< finds eigenvectors for later right-hand sides (solvers/krylov/eigcg.hpp), then as cg
  static const Method hermitian_cg;  ///< for a Hermitian A and the systems (A + sigma) x = b, positive definite

 private:
  const MethodKind* kind_;
};

/// \throws UnknownName the name is unknown; the message lists those that exist.
Method method_of(const std::string& name);
/// `cg`, `bicgstab`, ...; what `method_of` takes.
const char* name_of(Method method);
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

/// Numbers that methods need; each method says the range of its own.
struct MethodParameters {
  int restart = 10;  ///< directions that GCR keeps
  int l = 2;         ///< degree of the minimal residual polynomial of BiCGstab(l)
  double omega = 1;  ///< over-relaxation of MR
  int search = 60;   ///< vectors of the search space of methods that keep some of them
  int keep = 10;     ///< of them, at a restart and for later right-hand sides
  /// Preconditioner of GCR.
  std::optional<InnerMethod> preconditioner = std::nullopt;
  /// Preconditioner made by the caller, which outlives the method.
  Preconditioner* given = nullptr;

  static constexpr int most_directions = 32;
};

/// A number that a method needs, and the option of commands that sets it.
struct MethodNumber {
  std::string_view option = "", letter = "";  ///< `--restart`, `M`; empty: there is none
  std::string_view help = "";
  int MethodParameters::*whole = nullptr;    ///< one of the two
  double MethodParameters::*real = nullptr;  ///< between the bounds, which are not allowed
  double lower = 0, upper = 0;
};

/// Description of a method, defined by its file in solvers/krylov/methods/.
struct MethodKind {
  std::array<std::string_view, 2> names;  ///< that users give; the second is another for the same
  bool offered = true;                    ///< to users
  std::string_view source = "";
  std::string_view storage = "", applications = "", traffic = "";  ///< fields; of A and of other fields an iteration
  std::string_view use = "";
  std::array<MethodNumber, 2> numbers{};
  /// \throws UsageError numbers that are in their ranges do not go together.
  void (*check)(const MethodParameters&) = nullptr;
  bool preconditioned = false;             ///< MethodParameters::preconditioner is its
  int (*fields)(const MethodParameters&);  ///< of a right-hand side, those of a preconditioner left out
  std::unique_ptr<Recurrence> (*make)(const LinearOperator& a, const LinearOperator& inner, Scalars& scalars, int rhs,
                                      const MethodParameters& parameters);
  /// Makes the deflating outer solver that works before the recurrence; null: none.
  std::unique_ptr<OuterSolver> (*outer_solver)(const OuterSolverSetting& setting,
                                               const MethodParameters& parameters) = nullptr;
  bool one_by_one = false;  ///< right-hand sides follow each other, and learn from those before
  int least_bits = 0;       ///< of the numbers that it iterates with
  int together = 1;         ///< right-hand sides that pay off together on processors
  /// For methods on all sites around a cycle of multigrid: fields in single on all sites that a cycle needs for each
  /// right-hand side; else 0.
  int cycle_fields = 0;
};
template <>
std::span<const MethodKind* const> listed<MethodKind>();

/// A number that methods need, by its option, and the names of those that do.
struct MethodOption {
  const MethodNumber* number;
  std::vector<std::string> methods;
};
std::vector<MethodOption> method_options();

/// MethodKind::make of a class whose constructor takes no more than some of the numbers.
template <class Class, auto... own>
std::unique_ptr<Recurrence> make_method(const LinearOperator& a, const LinearOperator&, Scalars& scalars, int rhs,
                                        const MethodParameters& parameters) {
  return std::make_unique<Class>(a, scalars, rhs, parameters.*own...);
}
/// MethodKind::fields of a method that always has so many.
template <int count>
int field_count(const MethodParameters&) {
  return count;
}

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
