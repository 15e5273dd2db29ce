/// \file
/// Calls of lattice expressions (generator/language): the typed functions of generated/expressions call these.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// A direction of the lattice given to an expression: 0 to 3 for x, y, z, t.
struct LatticeDirection {
  int mu;
};

/// A field, number or direction given to an expression.
class ExpressionArgument {
 public:
  ExpressionArgument(const LinkField& links) : value_(&links) {}
  ExpressionArgument(const SpinorField& spinors) : value_(&spinors) {}
  ExpressionArgument(double number) : value_(Complex64(number)) {}
  ExpressionArgument(Complex64 number) : value_(number) {}
  ExpressionArgument(LatticeDirection direction) : value_(direction) {}

  const LinkField* links() const { return get<const LinkField*>(); }
  const SpinorField* spinors() const { return get<const SpinorField*>(); }
  bool is_number() const { return std::holds_alternative<Complex64>(value_); }
  Complex64 number() const { return std::get<Complex64>(value_); }
  const LatticeDirection* direction() const { return std::get_if<LatticeDirection>(&value_); }
  bool is_field() const { return links() != nullptr || spinors() != nullptr; }

 private:
  template <class T>
  T get() const {
    const T* found = std::get_if<T>(&value_);
    return found == nullptr ? nullptr : *found;
  }
  std::variant<const LinkField*, const SpinorField*, Complex64, LatticeDirection> value_;
};

/// One field, number or direction of an expression, from Kernel::signature.
struct ExpressionParameter {
  std::string_view name;
  std::string_view kind;     ///< spinor, fermion, links, matrices, algebra, real, complex, direction
  std::string_view operand;  ///< member of Arguments; the place among the directions
  /// out: it is written; some: in some directions; apart: read where something else is written; each: a kernel that
  /// writes matrices adds up over its right-hand sides; here
  std::string_view flag;
  BorderDepth reach;  ///< how far from there it is read
  bool is_number() const { return kind == "real" || kind == "complex"; }
  bool is_spinor() const { return kind == "spinor" || kind == "fermion"; }
  bool is_direction() const { return kind == "direction"; }
  bool is_field() const { return !is_number() && !is_direction(); }
  bool is_output() const { return flag == "out" || flag == "some"; }
  bool reaches_beyond() const { return reach != BorderDepth{}; }
};
/// What an expression needs beside its arguments.
struct ExpressionSettings {
  /// Phases of hops of fermions across the last slice of each direction.
  std::array<Complex64, directions> boundary{1, 1, 1, 1};
  std::string_view basis = "";  ///< in which spinors are, for expressions with matrices in spin
};
/// In the order of a call.
std::vector<ExpressionParameter> parameters_of(const Kernel& expression);

/// The arguments of a launch, which works on all sites; an expression with sums also needs `out` (SiteSums).
/// \throws UsageError a field is not of the kind, lattice, precision or storage that the expression needs.
Arguments expression_arguments(const Kernel& expression, std::span<const ExpressionArgument> arguments);

/// Evaluates an expression at all sites; returns its sums over the lattice. Arguments are what it is given (fields,
/// numbers, directions), in the order of its function, then fields that it writes. On parts of a lattice it is
/// collective, and gives what it gives on the whole, in double the same bits: fields that it reads elsewhere get a
/// border from the neighbours (runtime/ranks/bordered.hpp). \throws MissingKernel this build has no such kernel for
/// fields of this precision and storage. \throws UsageError as above. \throws WrongLattice a part is shorter than the
/// expression reads.
std::vector<double> evaluate(std::string_view expression, std::span<const ExpressionArgument> arguments,
                             const ExpressionSettings& settings = {});
inline std::vector<double> evaluate(std::string_view expression, std::initializer_list<ExpressionArgument> arguments,
                                    const ExpressionSettings& settings = {}) {
  return evaluate(expression, std::span(arguments.begin(), arguments.size()), settings);
}

}  // namespace quarksmith
