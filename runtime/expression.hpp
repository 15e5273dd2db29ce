/// \file
/// Calls of lattice expressions (generator/language): the typed functions of generated/expressions call these.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/field.hpp"

namespace quarksmith {

/// A field or number given to an expression.
class ExpressionArgument {
 public:
  ExpressionArgument(const LinkField& links) : value_(&links) {}
  ExpressionArgument(const SpinorField& spinors) : value_(&spinors) {}
  ExpressionArgument(double number) : value_(Complex64(number)) {}
  ExpressionArgument(Complex64 number) : value_(number) {}

  const LinkField* links() const { return get<const LinkField*>(); }
  const SpinorField* spinors() const { return get<const SpinorField*>(); }
  bool is_number() const { return std::holds_alternative<Complex64>(value_); }
  Complex64 number() const { return std::get<Complex64>(value_); }

 private:
  template <class T>
  T get() const {
    const T* found = std::get_if<T>(&value_);
    return found == nullptr ? nullptr : *found;
  }
  std::variant<const LinkField*, const SpinorField*, Complex64> value_;
};

/// One field or number of an expression, from Kernel::signature.
struct ExpressionParameter {
  std::string_view name;
  std::string_view kind;     ///< spinor, fermion, links, matrices, algebra, real, complex
  std::string_view operand;  ///< member of Arguments
  std::string_view flag;     ///< out: it is written; apart: read where something else is written; here
  bool is_number() const { return kind == "real" || kind == "complex"; }
  bool is_spinor() const { return kind == "spinor" || kind == "fermion"; }
  bool is_output() const { return flag == "out"; }
};
/// What an expression needs beside its arguments.
struct ExpressionSettings {
  /// Phases of hops of fermions across the last slice of each direction.
  std::array<Complex64, directions> boundary{1, 1, 1, 1};
  std::string_view basis = "";  ///< in which spinors are, for expressions with matrices in spin
};
/// In the order of a call.
std::vector<ExpressionParameter> parameters_of(const Kernel& expression);
/// Whether it reads sites other than those where it writes or adds up.
bool reads_neighbours(const Kernel& expression);

/// The arguments of a launch for the sites of one parity.
/// \throws UsageError a field is not of the kind, lattice, precision or storage that the expression needs.
Arguments expression_arguments(const Kernel& expression, std::span<const ExpressionArgument> arguments, Parity parity);

/// Evaluates an expression at all sites; returns its sums over the lattice. Arguments are fields and numbers that it
/// reads, in the order of its function, then fields that it writes.
/// \throws MissingKernel this build has no such kernel for fields of this precision and storage.
/// \throws UsageError as above; or the lattice is split and the expression reads neighbours or writes links, whose
/// border others hold.
std::vector<double> evaluate(std::string_view expression, std::span<const ExpressionArgument> arguments,
                             const ExpressionSettings& settings = {});
inline std::vector<double> evaluate(std::string_view expression, std::initializer_list<ExpressionArgument> arguments,
                                    const ExpressionSettings& settings = {}) {
  return evaluate(expression, std::span(arguments.begin(), arguments.size()), settings);
}

}  // namespace quarksmith
