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

/// A Krylov method: refers to its MethodKind, which a file of solvers/krylov/methods/ defines.
class Method {
 public:
  constexpr explicit Method(const MethodKind& kind) : kind_(&kind) {}
  const MethodKind* operator->() const { return kind_; }
  friend constexpr bool operator==(const Method&, const Method&) = default;
  friend constexpr auto operator<=>(const Method&, const Method&) = default;

  /// Methods that the library itself uses by name.
  static const Method automatic;  ///< BiCGstab; if it fails, CG on the normal equations from its best iterate
  static const Method bicgstab, bicgstab_l, cg, cgne, gcr, mr, multigrid;
  /// All right-hand sides in one Krylov space (solvers/krylov/block_cg.hpp), then each separately by cg.
  static const Method block_cg;
  static const Method eigcg;  ///< finds eigenvectors for later right-hand sides (solvers/krylov/eigcg.hpp), then cg
  static const Method hermitian_cg;  ///< for a Hermitian A and the systems (A + sigma) x = b, positive definite

 private:
  const MethodKind* kind_;
};

/// A method by name. \throws UnknownName the name is unknown; the message lists those that exist.
Method method_of(const std::string& name);
/// The name of a method for `method_of`, such as `cg`.
const char* name_of(Method method);
std::vector<std::string_view> method_names();

/// A fixed number of steps of a method, started from zero.
struct InnerMethod {
  Method method = Method::mr;
  int steps = 4;
  bool schwarz = false;  ///< whether each rank iterates on its local lattice alone
};

/// Reads `none`, METHOD:STEPS such as `mr:4`, or schwarz-METHOD:STEPS.
/// \throws UsageError other text.
std::optional<InnerMethod> preconditioner_of(const std::string& text);

/// Parameters of all methods; each method defines the ranges of those that it takes.
struct MethodParameters {
  int restart = 10;  ///< directions that GCR keeps
  int l = 2;         ///< degree of the minimal residual polynomial of BiCGstab(l)
  double omega = 1;  ///< over-relaxation of MR
  int search = 60;   ///< vectors of the search space of methods that keep some of them
  int keep = 10;     ///< vectors that are kept at a restart and for later right-hand sides
  /// Preconditioner of GCR.
  std::optional<InnerMethod> preconditioner = std::nullopt;
  /// Preconditioner of the caller, which must outlive the method.
  Preconditioner* given = nullptr;

  static constexpr int most_directions = 32;
};

/// A parameter of a method, and the option of commands that sets it.
struct MethodNumber {
  std::string_view option = "", letter = "";  ///< `--restart`, `M`; empty: there is none
  std::string_view help = "";
  int MethodParameters::*whole = nullptr;    ///< set if the parameter is an integer
  double MethodParameters::*real = nullptr;  ///< set if it is real; then the bounds are not allowed
  double lower = 0, upper = 0;
};

/// Description of a method, defined by its file in solvers/krylov/methods/.
struct MethodKind {
  std::array<std::string_view, 2> names;  ///< for users; the second is an alternative
  bool offered = true;                    ///< to users
  std::string_view source = "";
  /// For help: fields; applications of A, and fields read or written, in an iteration.
  std::string_view storage = "", applications = "", traffic = "";
  std::string_view use = "";
  std::array<MethodNumber, 2> numbers{};
  /// \throws UsageError parameters contradict each other.
  void (*check)(const MethodParameters&) = nullptr;
  bool preconditioned = false;             ///< whether it uses MethodParameters::preconditioner
  int (*fields)(const MethodParameters&);  ///< fields of a right-hand side, without those of a preconditioner
  std::unique_ptr<Recurrence> (*make)(const LinearOperator& a, const LinearOperator& inner, Scalars& scalars, int rhs,
                                      const MethodParameters& parameters);
  /// Makes the deflating outer solver that works before the recurrence; null: none.
  std::unique_ptr<OuterSolver> (*outer_solver)(const OuterSolverSetting& setting,
                                               const MethodParameters& parameters) = nullptr;
  bool one_by_one = false;  ///< whether right-hand sides are solved one after another, and learn from earlier ones
  int least_bits = 0;       ///< least bits of the precision of its iterations
  int together = 1;         ///< right-hand sides that are best solved together on CPUs
  /// For methods that are preconditioned by multigrid: fields in single on all sites that a cycle needs for each
  /// right-hand side; else 0.
  int cycle_fields = 0;
};
template <>
std::span<const MethodKind* const> listed<MethodKind>();

/// A parameter with the names of the methods that take it.
struct MethodOption {
  const MethodNumber* number;
  std::vector<std::string> methods;
};
std::vector<MethodOption> method_options();

/// MethodKind::make for a class whose constructor takes the parameters `own`.
template <class Class, auto... own>
std::unique_ptr<Recurrence> make_method(const LinearOperator& a, const LinearOperator&, Scalars& scalars, int rhs,
                                        const MethodParameters& parameters) {
  return std::make_unique<Class>(a, scalars, rhs, parameters.*own...);
}
/// MethodKind::fields for a method with a fixed number of fields.
template <int count>
int field_count(const MethodParameters&) {
  return count;
}

/// \throws UsageError a number is out of range, or the method takes no preconditioner.
void check(Method method, const MethodParameters& parameters);

/// A recurrence for up to `rhs` right-hand sides.
/// \param a,inner the operator of the recurrence, and that of its preconditioner (another precision, or `a` again);
/// both and the scalars must outlive it.
std::unique_ptr<Recurrence> make_recurrence(Method method, const MethodParameters& parameters, const LinearOperator& a,
                                            const LinearOperator& inner, Scalars& scalars, int rhs);

/// Spinor fields of a right-hand side: of the recurrence, and of its preconditioner.
struct FieldCount {
  int recurrence = 0, preconditioner = 0;
};
FieldCount fields_of(Method method, const MethodParameters& parameters);

}  // namespace quarksmith
